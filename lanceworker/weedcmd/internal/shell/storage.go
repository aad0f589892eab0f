package shell

import (
	"context"
	"path"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Stored is what lies in a table's storage, whoever put it there.
type Stored struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Measure counts the files of a table, directory by directory. While others
// work on the table it is only about right.
func Measure(ctx context.Context, s objects.Store) (Stored, error) {
	var total Stored
	var walk func(dir string) error
	walk = func(dir string) error {
		var dirs []string
		err := objects.All(ctx, s, dir, func(e objects.Entry) error {
			if e.Dir {
				dirs = append(dirs, path.Join(dir, e.Name))
				return nil
			}
			total.Files++
			total.Bytes += e.Size
			return nil
		})
		for _, d := range dirs {
			if err == nil {
				err = walk(d)
			}
		}
		return err
	}
	return total, walk("")
}
