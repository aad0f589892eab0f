package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	refSuffix = ".json"
	// maxRef bounds a tag's or branch's file: a few hundred bytes and what
	// people put into its metadata.
	maxRef = 16 << 20
)

// Tag is a name for one version.
type Tag struct {
	Name string
	// Branch is "" for the main branch.
	Branch  string
	Version uint64
}

// Branch is a line of versions of its own, which starts at a version of its parent.
type Branch struct {
	Name string
	// ParentBranch is "" for the main branch.
	ParentBranch  string
	ParentVersion uint64
}

// Dir is where a branch keeps its versions.
func (b Branch) Dir() string { return BranchTreeDir + "/" + b.Name }

// Tags lists the tags of a table. A tag that can't be read is an error: what it
// protects is not known.
func Tags(ctx context.Context, s objects.Store) ([]Tag, error) {
	var tags []Tag
	err := eachRef(ctx, s, TagsDir, func(name string, content []byte) error {
		var c struct {
			Branch  *string `json:"branch"`
			Version *uint64 `json:"version"`
		}
		if err := json.Unmarshal(content, &c); err != nil {
			return err
		}
		if c.Version == nil {
			return errors.New("no version")
		}
		t := Tag{Name: name, Version: *c.Version}
		if c.Branch != nil && *c.Branch != "main" {
			t.Branch = *c.Branch
		}
		tags = append(tags, t)
		return nil
	})
	return tags, err
}

// Branches lists the branches of a table.
func Branches(ctx context.Context, s objects.Store) ([]Branch, error) {
	var branches []Branch
	err := eachRef(ctx, s, BranchesDir, func(name string, content []byte) error {
		var c struct {
			ParentBranch  *string `json:"parentBranch"`
			ParentVersion *uint64 `json:"parentVersion"`
		}
		if err := json.Unmarshal(content, &c); err != nil {
			return err
		}
		if c.ParentVersion == nil {
			return errors.New("no parentVersion")
		}
		plain, err := url.PathUnescape(name)
		if err != nil {
			return err
		}
		if err := objects.CheckName(plain); err != nil {
			return err
		}
		b := Branch{Name: plain, ParentVersion: *c.ParentVersion}
		if c.ParentBranch != nil && *c.ParentBranch != "main" {
			b.ParentBranch = *c.ParentBranch
		}
		branches = append(branches, b)
		return nil
	})
	return branches, err
}

// eachRef reads every reference of a directory. One that is deleted between
// listing and reading is gone, and that is all right.
func eachRef(ctx context.Context, s objects.Store, dir string, f func(name string, content []byte) error) error {
	return objects.AllOpen(ctx, s, dir, func(l objects.Listed) error {
		name, ok := strings.CutSuffix(l.Name, refSuffix)
		if l.Dir || !ok {
			return nil
		}
		full := dir + "/" + l.Name
		b, _, err := objects.ReadListed(ctx, l, maxRef)
		if err != nil && changed(ctx, s, dir, l.Entry) {
			b, _, err = objects.ReadAll(ctx, s, full, maxRef)
		}
		if errors.Is(err, objects.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", full, err)
		}
		if err := f(name, b); err != nil {
			return corrupt(full, "%v", err)
		}
		return nil
	})
}

// changed tells whether the object that a listing showed is certainly not there any more.
func changed(ctx context.Context, s objects.Store, dir string, e objects.Entry) bool {
	page, err := s.List(ctx, dir, e.Name, 1)
	return err == nil && (len(page) == 0 || page[0].Name != e.Name || page[0].Token != e.Token)
}
