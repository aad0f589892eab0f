package local_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

const (
	slowParts, slowRows = 48, 50
	// manyParts makes a table of as many fragments, whose rows can't be compressed.
	manyParts = `
import random
import pyarrow as pa
text = lambda i: "row %d " % i + random.Random(i).randbytes(1000).hex()
for k in range(parts):
    ids = range(k * rows, (k + 1) * rows)
    part = pa.table({"id": pa.array(ids, pa.int64()), "text": [text(i) for i in ids]})
    lance.write_dataset(part, uri, mode="append" if k else "create")
ds = lance.dataset(uri)
t = ds.to_table()
result = {"version": ds.version, "ids": t["id"].to_pylist(), "texts": t["text"].to_pylist()}
`
	// cleansAll removes all that nothing names, whatever its age.
	cleansAll = `
kw = {} if strict else {"error_if_tagged_old_versions": False}
lance.dataset(uri).cleanup_old_versions(older_than=datetime.timedelta(0), delete_unverified=True, **kw)
`
	// rewrites appends to a table, deletes from it and compacts it.
	rewrites = `
import pyarrow as pa
ids = range(start, start + 50)
lance.write_dataset(pa.table({"id": pa.array(ids, pa.int64()), "text": ["new"] * 50}), uri, mode="append")
lance.dataset(uri).delete("id % 11 = " + str(n))
if n % 2:
    lance.dataset(uri).optimize.compact_files(num_threads=1)
`
)

// slow is a scan that is read a batch at a time, and what it has to return.
type slow struct {
	holds
	tab  *session.Table
	rows *session.Scan
	at   int
}

// next reads a batch; false at the end.
func (s *slow) next(t *testing.T) (bool, error) {
	t.Helper()
	b, err := s.rows.Next(t.Context())
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer b.Release()
	ids, texts := b.Column(0).(*array.Int64), b.Column(1).(*array.String)
	for i := range ids.Len() {
		if s.at == len(s.IDs) || ids.Value(i) != s.IDs[s.at] || texts.Value(i) != s.Texts[s.at] {
			t.Fatalf("row %d is %d, %q", s.at, ids.Value(i), texts.Value(i))
		}
		s.at++
	}
	return true, nil
}

// begin makes a table and begins to scan it, with so little fetched ahead that most is read later.
func begin(t *testing.T, lance *oracle.Lance, dir string) *slow {
	t.Helper()
	s := new(slow)
	lance.Do(t, "run", oracle.Args{"code": manyParts, "uri": dir, "parts": slowParts, "rows": slowRows}, &s.holds)
	opened, err := session.New(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	if s.tab, err = opened.Open(t.Context(), session.Directory(dir)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *slow) scan(t *testing.T) {
	t.Helper()
	var err error
	if s.rows, err = s.tab.Scan(t.Context(), session.ScanOptions{BatchRows: 40, ReadAhead: 512 << 10, Threads: 1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.rows.Close() })
}

// TestSlowScan reads a version batch by batch while Lance and this module write, compact and clean up with no
// retention at all between two batches.
func TestSlowScan(t *testing.T) {
	releases := []oracle.Release{oracle.Newest}
	if full() {
		releases = append(releases, oracle.V10, oracle.V4)
	}
	for _, r := range releases {
		lance := oracle.Start(t, r)
		for _, leased := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, leased %v", r, leased), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "t")
				s := begin(t, lance, dir)
				clock := &leaseClock{now: time.Now()}
				leases := lease.New(lease.Options{Now: clock.Now, After: clock.After})
				var le *lease.Lease
				if leased {
					var err error
					if le, err = leases.Take(t.Context(), s.tab); err != nil || !le.Pinned() {
						t.Fatalf("%+v, error %v", le, err)
					}
				}
				s.scan(t)
				more, err := s.next(t)
				for n := 0; more && err == nil; n++ {
					if n < 8 {
						maintain(t, lance, dir, n, leased)
					}
					more, err = s.next(t)
				}
				if !leased {
					// What the lease is there for.
					if !errors.Is(err, session.ErrGone) {
						t.Errorf("%d of %d rows, error %v", s.at, len(s.IDs), err)
					}
					return
				}
				if err != nil || s.at != len(s.IDs) || s.at != slowParts*slowRows {
					t.Fatalf("%d of %d rows, error %v", s.at, len(s.IDs), err)
				}
				le.Release()
				clock.add(10*time.Second - 1)
				hasTag(t, dir, le.Tag(), true)
				if got := versionsOf(t, dir); got[0] != s.Version || len(got) != 2 {
					t.Errorf("left %v", got)
				}
				clock.add(1)
				hasTag(t, dir, le.Tag(), false)
				lance.Do(t, "run", oracle.Args{"code": cleansAll, "uri": dir, "strict": true}, nil)
				if got := versionsOf(t, dir); len(got) != 1 {
					t.Errorf("left %v", got)
				}
				if err := leases.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// maintain lets a table go on and removes what it can, by both.
func maintain(t *testing.T, lance *oracle.Lance, dir string, n int, leased bool) {
	t.Helper()
	lance.Do(t, "run", oracle.Args{"code": rewrites, "uri": dir, "n": n, "start": 1_000_000 + 50*n}, nil)
	compactNow(t, dir, 1<<20)
	ours := n%2 == 0
	if ours {
		cleanNow(t, dir, cleanup.Options{})
	}
	// Without being told otherwise, Lance refuses to clean up under a lease.
	err := lance.Try("run", oracle.Args{"code": cleansAll, "uri": dir, "strict": true}, nil)
	var refused *oracle.Error
	if leased && (!errors.As(err, &refused) || !strings.Contains(refused.Text, "agged")) || !leased && err != nil {
		t.Errorf("error %v", err)
	}
	lance.Do(t, "run", oracle.Args{"code": cleansAll, "uri": dir, "strict": false}, nil)
	if !ours {
		cleanNow(t, dir, cleanup.Options{})
	}
}

// hasTag asserts whether a tag is there.
func hasTag(t *testing.T, dir, tag string, want bool) {
	t.Helper()
	names, err := table.TagNames(t.Context(), store(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if n == tag {
			if !want {
				t.Errorf("%s is still there", tag)
			}
			return
		}
	}
	if want {
		t.Errorf("%s is not among %q", tag, names)
	}
}
