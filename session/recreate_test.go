package session

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Tables that are dropped and made again in one place, with the same version numbers or others:
// never a value of the one before.
func TestRecreate(t *testing.T) {
	kinds := []struct {
		table string
		upTo  uint64
	}{{"types_20", 3}, {"types_21", 3}, {"types_22", 3}, {"deletions", 0}, {"types_22", 2}, {"lance_4", 0}, {"v1_names", 0}}
	for _, marked := range []bool{false, true} {
		for _, dropped := range []string{"emptied", "removed", "seen gone"} {
			t.Run(fmt.Sprintf("marked %v, %s", marked, dropped), func(t *testing.T) {
				w := newWorld(t)
				s := newSession(t, Options{})
				const times = 17
				for i := range times {
					k := kinds[i*3%len(kinds)]
					switch dropped {
					case "removed":
						w.drop()
					case "seen gone":
						w.empty()
						if _, err := s.Open(t.Context(), w.location()); i > 0 && !errors.Is(err, ErrNoTable) {
							t.Fatalf("error %v", err)
						}
					}
					w.put(k.table, k.upTo)
					id := ""
					if marked {
						id = fmt.Sprintf("table %d", i)
						w.mark(id)
					}
					want := fresh(t, w.location())
					for range 2 {
						tab := open(t, s, w.location())
						if got := textOf(t, tab); got != want || tab.ID() != id {
							t.Fatalf("table %d, a copy of %s, id %q: stale", i, k.table, tab.ID())
						}
					}
				}
				if x := s.Stats(); x.StartOvers != times-1 {
					t.Errorf("%d tables, %d start-overs", times, x.StartOvers)
				}
			})
		}
	}
}

// What reads the old table goes on with it when the session starts over, and leaves nothing
// behind in the caches.
func TestStartOverKeepsReads(t *testing.T) {
	w := newWorld(t)
	w.put("many_appends", 0)
	s := newSession(t, Options{})
	old := open(t, s, w.location())
	want := textOf(t, old)
	rows, err := old.Scan(t.Context(), ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	// The same files, so that the old table can still be read, and other manifests.
	w.rewrite(func(*table.Table) {})
	if next := open(t, s, w.location()); next.ETag() == old.ETag() || s.Stats().StartOvers != 1 {
		t.Fatalf("%+v", s.Stats())
	}
	if n := s.Stats().Metadata.Entries; n != 1 {
		t.Errorf("%d entries after starting over", n)
	}
	if textOf(t, old) != want {
		t.Error("the old table reads something else")
	}
	n := int64(0)
	for {
		b, err := rows.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n += b.NumRows()
		b.Release()
	}
	if n != 1000 {
		t.Errorf("%d rows", n)
	}
	if n := s.Stats().Metadata.Entries; n != 1 {
		t.Errorf("%d entries, some by the old table", n)
	}
	textOf(t, open(t, s, w.location()))
	if n := s.Stats().Metadata.Entries; n != 41 {
		t.Errorf("%d entries by the new table and its 40 files", n)
	}
}

// A table that got more versions than its predecessor had is not taken for a newer version of it.
func TestRecreatedWithMoreVersions(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 2)
	s := newSession(t, Options{})
	open(t, s, w.location())
	w.put("many_appends", 7)
	if got := open(t, s, w.location()); got.Version() != 7 || s.Stats().StartOvers != 1 || s.Stats().Moves != 0 {
		t.Errorf("version %d, %+v", got.Version(), s.Stats())
	}
}

// Files that went with a table are an error, not other rows.
func TestDroppedUnderARead(t *testing.T) {
	w := newWorld(t)
	w.put("types_21", 0)
	s := newSession(t, Options{})
	old := open(t, s, w.location())
	w.put("types_22", 0)
	if _, err := text(t.Context(), old); !errors.Is(err, ErrGone) {
		t.Errorf("error %v", err)
	}
}

func TestForget(t *testing.T) {
	w := newWorld(t)
	w.put("types_22", 0)
	s := newSession(t, Options{})
	want := textOf(t, open(t, s, w.location()))
	s.Forget(w.location())
	if x := s.Stats(); x.Tables != 0 || x.Records != 0 || x.Metadata.Entries != 0 || x.Metadata.Bytes != 0 {
		t.Errorf("%+v", x)
	}
	if textOf(t, open(t, s, w.location())) != want {
		t.Error("other rows")
	}
}
