package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// tagFile is the content of a tag's object. Names, order and layout are Lance's.
type tagFile struct {
	// Branch is null for the main one.
	Branch    *string `json:"branch"`
	Version   uint64  `json:"version"`
	CreatedAt string  `json:"createdAt"`
	UpdatedAt string  `json:"updatedAt"`
	// ManifestSize is what lets a reader fetch the manifest in one request.
	ManifestSize int64             `json:"manifestSize"`
	Metadata     map[string]string `json:"metadata"`
}

// CreateTag names a version, whose manifest object has the given size. s is the
// table's root, for tags of branches too. It fails with objects.ErrExists when
// the name is taken. Lance creates tags by looking first; this is one exclusive
// create, so that of two of this module only one succeeds.
//
// Whether the version exists is not looked at: who tags it to keep it has to
// look afterwards anyway, since a cleanup may have listed the tags before.
func CreateTag(ctx context.Context, s objects.Store, t Tag, manifestSize int64, at time.Time) error {
	if err := checkTagName(t.Name); err != nil {
		return err
	}
	stamp := at.UTC().Format(time.RFC3339Nano)
	f := tagFile{Version: t.Version, CreatedAt: stamp, UpdatedAt: stamp, ManifestSize: manifestSize, Metadata: map[string]string{}}
	if t.Branch != "" {
		f.Branch = &t.Branch
	}
	name := tagObject(t.Name)
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	if err := s.Publish(ctx, name, b); err != nil {
		return fmt.Errorf("creating tag %s: %w", t.Name, err)
	}
	return nil
}

// DeleteTag removes a tag; one that is not there is a success.
func DeleteTag(ctx context.Context, s objects.Store, name string) error {
	if err := s.Delete(ctx, tagObject(name)); err != nil {
		return fmt.Errorf("deleting tag %s: %w", name, err)
	}
	return nil
}

// TagNames lists the names of a table's tags, in order, without reading the tags.
func TagNames(ctx context.Context, s objects.Store) ([]string, error) {
	var names []string
	err := objects.All(ctx, s, TagsDir, func(e objects.Entry) error {
		if name, ok := strings.CutSuffix(e.Name, refSuffix); ok && !e.Dir {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", TagsDir, err)
	}
	return names, nil
}

func tagObject(name string) string { return TagsDir + "/" + name + refSuffix }

// checkTagName refuses what Lance would not take, and letters and digits
// outside ASCII, which it would.
func checkTagName(name string) error {
	err := func() error {
		if name == "" {
			return errors.New("is empty")
		}
		for _, c := range name {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
			if !letter && (c < '0' || c > '9') && !strings.ContainsRune(".-_", c) {
				return fmt.Errorf("holds %q; letters, digits, '.', '-' and '_' are possible", c)
			}
		}
		switch {
		case strings.HasPrefix(name, "."), strings.HasSuffix(name, "."):
			return errors.New("begins or ends with a dot")
		case strings.Contains(name, ".."):
			return errors.New("holds two dots in a row")
		case strings.HasSuffix(name, ".lock"):
			return errors.New("ends with .lock")
		}
		return nil
	}()
	if err != nil {
		return fmt.Errorf("tag name %q %w", name, err)
	}
	return nil
}
