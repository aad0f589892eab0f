package cleanup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// maxDepth is how deep below tree/ branches are looked for; each level is a
// slash in a branch's name.
const maxDepth = 64

// readBranches keeps what the versions of all branches name. They are found by
// what lies below tree/ rather than by the list of branches: one that is being
// made has versions before it is listed. Called again, it reads what is new.
func (v *survey) readBranches(ctx context.Context) error {
	return eachBranch(ctx, v.store, table.BranchTreeDir, 0, func(dir string) error {
		s := objects.Sub(v.store, dir)
		l, err := table.ListVersions(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		for _, ref := range append(l.Versions, l.Detached...) {
			id := dir + "/" + ref.Name + " " + ref.Token
			if v.branches[id] {
				continue
			}
			t, err := open(ctx, s, l, ref)
			if errors.Is(err, objects.ErrNotFound) {
				continue // the branch, or this version of it, was removed meanwhile
			}
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			if err := v.name(t, false, 0); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			v.branches[id] = true
		}
		return nil
	})
}

// eachBranch finds directories that hold versions.
func eachBranch(ctx context.Context, s objects.Store, dir string, depth int, f func(dir string) error) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: %w: branches nested deeper than %d", dir, table.ErrRefused, maxDepth)
	}
	var children []string
	root := false
	err := objects.All(ctx, s, dir, func(e objects.Entry) error {
		if e.Dir {
			root = root || e.Name == table.VersionsDir
			children = append(children, e.Name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing %s: %w", dir, err)
	}
	if root {
		if err := f(dir); err != nil {
			return err
		}
	}
	for _, c := range children {
		child := path.Join(dir, c)
		if root && (c == table.DataDir || strings.HasPrefix(c, "_")) {
			// A branch's own files, of which there may be many; only when
			// another branch has that very name is it one too.
			page, err := s.List(ctx, child, table.VersionsDir, 1)
			if err != nil {
				return fmt.Errorf("listing %s: %w", child, err)
			}
			if len(page) == 0 || page[0].Name != table.VersionsDir {
				continue
			}
		}
		if err := eachBranch(ctx, s, child, depth+1, f); err != nil {
			return err
		}
	}
	return nil
}
