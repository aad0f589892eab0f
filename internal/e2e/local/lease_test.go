package local_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// leaseOf takes a lease on a version, from a process of its own.
func leaseOf(t *testing.T, dir string, version uint64) (*lease.Leases, *lease.Lease) {
	t.Helper()
	s, err := session.New(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tab, err := s.OpenVersion(t.Context(), session.Directory(dir), version)
	if err != nil {
		t.Fatal(err)
	}
	leases := lease.New(lease.Options{})
	le, err := leases.Take(t.Context(), tab)
	if err != nil || !le.Pinned() {
		t.Fatalf("%+v, error %v", le, err)
	}
	return leases, le
}

// ended releases all leases, as the end of a process does.
func ended(t *testing.T, leases *lease.Leases, le *lease.Lease) {
	t.Helper()
	le.Release()
	if err := leases.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// asLanceSeesIt opens the table, lists its tags, and reads the version by the tag.
const asLanceSeesIt = `
ds = lance.dataset(uri)
t = ds.tags.list()[tag]
old = ds.checkout_version(tag)
try:
    ds.tags.create(tag, ds.version)
    again = ""
except Exception as e:
    again = str(e)
result = {"version": t["version"], "branch": t.get("branch"), "opened": old.version,
          "rows": len(old.to_table()), "size": t["manifest_size"], "again": again,
          "made": t["created_at"].timestamp() if t.get("created_at") else 0}
`

// cleansUp is a cleanup that every release knows the arguments of.
const cleansUp = `
lance.dataset(uri).cleanup_old_versions(older_than=datetime.timedelta(0), error_if_tagged_old_versions=strict)
`

// TestLeaseIsTag has each release read a table under a lease, and clean it up.
func TestLeaseIsTag(t *testing.T) {
	releases := []oracle.Release{oracle.Newest, oracle.V4}
	if full() {
		releases = append(releases, oracle.V10, oracle.V7, oracle.V1, oracle.V0)
	}
	for _, r := range releases {
		t.Run(string(r), func(t *testing.T) {
			lance := oracle.Start(t, r)
			dir := filepath.Join(t.TempDir(), "t")
			lance.Make(t, "many_appends", dir, oracle.Table{FileVersion: "2.0", Fragments: 6, Rows: 10})
			const version = 3
			begin := time.Now()
			leases, le := leaseOf(t, dir, version)
			var got struct {
				Version, Opened uint64
				Branch          *string
				Rows            int
				Size            int64
				Again           string
				Made            float64
			}
			see := func() {
				t.Helper()
				lance.Do(t, "run", oracle.Args{"code": asLanceSeesIt, "uri": dir, "tag": le.Tag()}, &got)
				if got.Version != version || got.Opened != version || got.Branch != nil || got.Rows != 10*version || got.Size == 0 {
					t.Errorf("%+v", got)
				}
				if !strings.Contains(got.Again, "exists") {
					t.Errorf("a second tag of the name: %q", got.Again)
				}
				// Releases before tags had a date leave it out.
				if at := time.UnixMicro(int64(got.Made * 1e6)); got.Made != 0 && (at.Before(begin.Add(-time.Second)) || at.After(time.Now().Add(time.Second))) {
					t.Errorf("made at %v, not after %v", at, begin)
				}
			}
			see()
			// By default a cleanup that meets a tag fails; asked to, it passes it over.
			err := lance.Try("run", oracle.Args{"code": cleansUp, "uri": dir, "strict": true}, nil)
			var refused *oracle.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Text, "agged") {
				t.Errorf("error %v", err)
			}
			lance.Do(t, "run", oracle.Args{"code": cleansUp, "uri": dir, "strict": false}, nil)
			see()
			if got := versionsOf(t, dir); len(got) != 2 || got[0] != version {
				t.Errorf("left %v", got)
			}
			ended(t, leases, le)
			lance.Do(t, "run", oracle.Args{"code": cleansUp, "uri": dir, "strict": true}, nil)
			if got := versionsOf(t, dir); len(got) != 1 {
				t.Errorf("left %v", got)
			}
		})
	}
}

func versionsOf(t *testing.T, dir string) (out []uint64) {
	t.Helper()
	l, err := table.ListVersions(t.Context(), store(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range l.Versions {
		out = append(out, v.Version)
	}
	return out
}

// TestLeaseUnderMaintenance compacts and cleans under a lease; what is leased is the
// same for Lance before and after.
func TestLeaseUnderMaintenance(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	made := lance.Make(t, "many_appends", dir, oracle.Table{FileVersion: "2.1"})
	version := made.Version
	leases, le := leaseOf(t, dir, version)
	lance.Do(t, "append", oracle.Args{"uri": dir, "start": made.Next, "n": 10}, nil)
	before := lance.Snapshot(t, dir)
	if ref := before.Tags[le.Tag()]; ref.Version != version || ref.Branch != "" {
		t.Errorf("tags %v", before.Tags)
	}
	compactNow(t, dir, 0)
	mid := lance.Check(t, before, oracle.Compacted)
	r := cleanNow(t, dir, cleanup.Options{})
	if len(r.Kept) != 1 || r.Kept[0].Version != version || !strings.Contains(r.Kept[0].Reason, le.Tag()) {
		t.Errorf("kept %+v", r.Kept)
	}
	after := lance.Check(t, mid, oracle.Cleaned)
	if got := after.Versions(); len(got) != 2 || got[0] != version {
		t.Errorf("left %v", got)
	}
	ended(t, leases, le)
	if r = cleanNow(t, dir, cleanup.Options{}); r.OldVersionsRemoved != 1 {
		t.Errorf("%+v", r)
	}
	if last := lance.Snapshot(t, dir); len(last.Tags) != 0 || len(last.Unnamed())+len(last.Missing()) > 0 {
		t.Errorf("tags %v, unnamed %v, missing %v", last.Tags, last.Unnamed(), last.Missing())
	}
	lance.OnTop(t, dir, made.Next+1000)
}
