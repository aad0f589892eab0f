package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// ram is a store of bytes that may be damaged. It can't be written to.
type ram map[string][]byte

// load reads a directory.
func load(dir string) (ram, error) {
	m := ram{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		m[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	return m, err
}

// with is the store with other bytes for one object.
func (m ram) with(name string, b []byte) ram {
	out := ram{}
	for k, v := range m {
		out[k] = v
	}
	out[name] = b
	return out
}

func (m ram) String() string { return "memory" }

func (m ram) Open(_ context.Context, name string) (objects.Reader, error) {
	b, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("opening %s: %w", name, objects.ErrNotFound)
	}
	return &memoryReader{name, b}, nil
}

func (m ram) List(_ context.Context, dir, from string, limit int) ([]objects.Entry, error) {
	seen := map[string]objects.Entry{}
	for name, b := range m {
		rest := name
		if dir != "" {
			var ok bool
			if rest, ok = strings.CutPrefix(name, dir+"/"); !ok {
				continue
			}
		}
		first, _, deeper := strings.Cut(rest, "/")
		if first < from {
			continue
		}
		if deeper {
			seen[first] = objects.Entry{Name: first, Dir: true}
		} else {
			seen[first] = objects.Entry{Name: first, Size: int64(len(b))}
		}
	}
	var out []objects.Entry
	for _, e := range seen {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b objects.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out[:min(limit, len(out))], nil
}

var errReadOnly = errors.New("this store is for reading")

func (m ram) Create(context.Context, string) (objects.Writer, error) { return nil, errReadOnly }
func (m ram) Publish(context.Context, string, []byte) error          { return errReadOnly }
func (m ram) Replace(context.Context, string, []byte) error          { return errReadOnly }
func (m ram) Delete(context.Context, string) error                   { return errReadOnly }

type memoryReader struct {
	name string
	b    []byte
}

func (r *memoryReader) Entry() objects.Entry {
	return objects.Entry{Name: r.name, Size: int64(len(r.b))}
}

func (r *memoryReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if off < 0 || off > int64(len(r.b)) || int64(len(p)) > int64(len(r.b))-off {
		return fmt.Errorf("reading %s: %d bytes at %d of %d: %w", path.Base(r.name), len(p), off, len(r.b), io.ErrUnexpectedEOF)
	}
	copy(p, r.b[off:])
	return nil
}

func (r *memoryReader) Close() error { return nil }
