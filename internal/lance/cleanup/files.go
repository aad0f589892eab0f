package cleanup

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// unverifiedAge is how old a file must be that no version names: Lance's own
// limit for how long a writer may take from its first byte to its commit.
const unverifiedAge = 7 * 24 * time.Hour

// victim is a file that may go.
type victim struct {
	File
	// key is what versions name it by.
	key string
	// batch is the position in due of the version after which it goes; loose
	// when no version has to leave for it.
	batch  int
	isData bool
}

// findVictims lists the directories that Lance writes and decides about every
// file of a kind that it makes.
func (v *survey) findVictims(ctx context.Context, now time.Time) ([]victim, error) {
	finished := v.finishable(now)
	var out []victim
	err := eachFile(ctx, v.store, func(key string, e objects.Entry, temporary bool) {
		x := victim{File: File{Name: e.Name, Size: e.Size}, key: key, batch: loose}
		x.isData = strings.HasPrefix(e.Name, table.DataDir+"/") && strings.HasSuffix(e.Name, dataSuffix)
		n, named := v.named[key]
		switch {
		case named && n.kept && !temporary:
			return
		case named && n.last != loose && !temporary:
			x.batch = n.last
			x.Reason = "only versions that go name it"
		case finished[finalName(e.Name)] != "":
			x.Reason = finished[finalName(e.Name)]
		case finished[path.Dir(e.Name)+dataSuffix] != "": // beside a data file, which stands for it
			x.Reason = finished[path.Dir(e.Name)+dataSuffix]
		case now.Sub(e.ModTime) >= unverifiedAge:
			x.Reason = "no version names it, and it is older than seven days"
		default:
			return
		}
		out = append(out, x)
	})
	return out, err
}

const (
	dataSuffix      = ".lance"
	sidecarSuffix   = ".blob"
	temporaryPrefix = ".tmp"
)

// finalName is the object that a file is, or was to become.
func finalName(name string) string {
	if final, ok := objects.FinalName(name); ok {
		return final
	}
	return name
}

// eachFile calls visit for every file of a kind that Lance makes, with the key
// that versions name it by. Whatever else lies there is not ours.
func eachFile(ctx context.Context, s objects.Store, visit func(key string, e objects.Entry, temporary bool)) error {
	flat := func(dir string, ours func(name string) bool) error {
		return list(ctx, s, dir, func(e objects.Entry) error {
			base := path.Base(e.Name)
			if temporary := strings.HasPrefix(base, temporaryPrefix); !e.Dir && (temporary || ours(base)) {
				visit(e.Name, e, temporary)
			}
			return nil
		})
	}
	suffix := func(all ...string) func(string) bool {
		return func(name string) bool {
			for _, x := range all {
				if strings.HasSuffix(name, x) {
					return true
				}
			}
			return false
		}
	}
	if err := flat(table.VersionsDir, isStaging); err != nil {
		return err
	}
	if err := flat(table.TransactionsDir, suffix(".txn")); err != nil {
		return err
	}
	if err := flat(table.DeletionsDir, suffix(".arrow", ".bin")); err != nil {
		return err
	}
	if err := eachDataFile(ctx, s, visit); err != nil {
		return err
	}
	// Records are not files of the table, but what is left of their writing is.
	if err := flat(journal.Dir, func(string) bool { return false }); err != nil {
		return err
	}
	return list(ctx, s, table.IndicesDir, func(e objects.Entry) error {
		id, err := uuid.Parse(path.Base(e.Name))
		if !e.Dir || err != nil || id.String() != path.Base(e.Name) {
			return nil // not an index's directory
		}
		return eachBelow(ctx, s, e.Name, 0, func(f objects.Entry) { visit(indexKey(id), f, false) })
	})
}

// eachDataFile visits data files and the blob sidecars that live as long as
// theirs does: data/{stem}.lance and data/{stem}/*.blob.
func eachDataFile(ctx context.Context, s objects.Store, visit func(string, objects.Entry, bool)) error {
	return list(ctx, s, table.DataDir, func(e objects.Entry) error {
		if e.Dir {
			return list(ctx, s, e.Name, func(f objects.Entry) error {
				switch {
				case f.Dir:
				case strings.HasPrefix(path.Base(f.Name), temporaryPrefix):
					visit(f.Name, f, true)
				case strings.HasSuffix(f.Name, sidecarSuffix):
					visit(e.Name+dataSuffix, f, false)
				}
				return nil
			})
		}
		temporary := strings.HasPrefix(path.Base(e.Name), temporaryPrefix)
		if temporary || strings.HasSuffix(e.Name, dataSuffix) {
			visit(e.Name, e, temporary)
		}
		return nil
	})
}

// isStaging tells whether a name below _versions is one that external manifest
// stores publish through: {version}.manifest-{uuid}.
func isStaging(name string) bool {
	_, id, ok := strings.Cut(name, ".manifest-")
	_, err := uuid.Parse(id)
	return ok && err == nil
}

// list is objects.All with whole names in the entries.
func list(ctx context.Context, s objects.Store, dir string, f func(objects.Entry) error) error {
	err := objects.All(ctx, s, dir, func(e objects.Entry) error {
		e.Name = dir + "/" + e.Name
		return f(e)
	})
	if err != nil {
		return fmt.Errorf("listing %s: %w", dir, err)
	}
	return nil
}

// eachBelow visits every file below a directory.
func eachBelow(ctx context.Context, s objects.Store, dir string, depth int, f func(objects.Entry)) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: %w: directories nested deeper than %d", dir, table.ErrRefused, maxDepth)
	}
	return list(ctx, s, dir, func(e objects.Entry) error {
		if e.Dir {
			return eachBelow(ctx, s, e.Name, depth+1, f)
		}
		f(e)
		return nil
	})
}
