package cleanup

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// Which versions go: ten, one for each hour up to now.
func TestPolicy(t *testing.T) {
	tests := []struct {
		name    string
		p       Policy
		prepare func(w *world)
		stay    []uint64
		kept    string
	}{
		{"everything", Policy{}, nil, []uint64{10}, "[]"},
		{"at least none means one", Policy{MinVersions: -3}, nil, []uint64{10}, "[]"},
		{"the newest three", Policy{MinVersions: 3}, nil, []uint64{8, 9, 10}, "[]"},
		{"more than there are", Policy{MinVersions: 11}, nil, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "[]"},
		{"as many as there are", Policy{MinVersions: 10}, nil, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "[]"},
		// Version 10 is one hour old, version 6 five hours.
		{"five hours: older is strictly older", Policy{Retain: 5 * time.Hour}, nil, []uint64{6, 7, 8, 9, 10}, "[]"},
		{"a little less", Policy{Retain: 5*time.Hour - 1}, nil, []uint64{7, 8, 9, 10}, "[]"},
		{"five hours, and the newest seven", Policy{Retain: 5 * time.Hour, MinVersions: 7}, nil, []uint64{4, 5, 6, 7, 8, 9, 10}, "[]"},
		{"five hours, and the newest two", Policy{Retain: 5 * time.Hour, MinVersions: 2}, nil, []uint64{6, 7, 8, 9, 10}, "[]"},
		{"longer than the table is old", Policy{Retain: 100 * time.Hour}, nil, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "[]"},
		{"tags", Policy{}, func(w *world) { w.tag("a", 3); w.tag("b", 3); w.tag("c", 1); w.tag("d", 10) }, []uint64{1, 3, 10}, `[{1 tag "c" names it} {3 tag "b" names it}]`},
		{"a tag on a version that is not due", Policy{MinVersions: 8}, func(w *world) { w.tag("a", 5) }, []uint64{3, 4, 5, 6, 7, 8, 9, 10}, "[]"},
		{"a tag on no version", Policy{}, func(w *world) { w.tag("a", 99) }, []uint64{10}, "[]"},
		{"a tag on a branch's version", Policy{}, func(w *world) {
			if err := makeTag(w.s, "a", "dev", 4); err != nil {
				w.tb.Fatal(err)
			}
		}, []uint64{10}, "[]"},
		{"a branch", Policy{}, func(w *world) {
			// Cut from version 10, which then is not the newest.
			w.branch("dev")
			w.append()
		}, []uint64{10, 11}, `[{10 branch "dev" starts at it}]`},
		{"a branch of a branch", Policy{}, func(w *world) {
			w.branch("dev").branch("dev/sub")
			w.append()
		}, []uint64{10, 11}, `[{10 branch "dev" starts at it}]`},
		{"no time said: that of the object", Policy{Retain: 90 * time.Minute}, func(w *world) {
			w.m.Timestamp = nil
			m := w.m
			m.Version = 11
			w.publish(w.n.ManifestName(11), m)
			w.old(w.n.ManifestName(11), 0)
		}, []uint64{10, 11}, "[]"},
	}
	for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
		for _, tt := range tests {
			t.Run(fmt.Sprint(n, "/", tt.name), func(t *testing.T) {
				w := newWorld(t, n)
				w.at = start.Add(-10 * time.Hour)
				for range 10 {
					w.append()
				}
				if tt.prepare != nil {
					tt.prepare(w)
				}
				all := versions(t, w.s)
				dry, err := Run(t.Context(), w.s, dryRun(tt.p))
				if err != nil {
					t.Fatal(err)
				}
				d, err := detect(t.Context(), w.s, tt.p, start)
				if err != nil {
					t.Fatal(err)
				}
				res := clean(t, w.s, tt.p)
				if got := versions(t, w.s); !slices.Equal(got, tt.stay) {
					t.Errorf("left: %v, want %v", got, tt.stay)
				}
				gone := slices.DeleteFunc(slices.Clone(all), func(v uint64) bool { return slices.Contains(tt.stay, v) })
				if !slices.Equal(res.Removed, gone) || !slices.Equal(dry.Removed, gone) || res.OldVersionsRemoved != len(gone) || res.Versions != len(tt.stay) {
					t.Errorf("removed %v, dry run %v, want %v; %+v", res.Removed, dry.Removed, gone, res)
				}
				if fmt.Sprint(res.Kept) != tt.kept || fmt.Sprint(dry.Kept) != tt.kept {
					t.Errorf("kept %v, dry run %v, want %v", res.Kept, dry.Kept, tt.kept)
				}
				if d.Due != (len(gone) > 0) || d.Versions != len(all) || d.Newest != all[len(all)-1] || d.Reason == "" {
					t.Errorf("detected %+v, and %v went", d, gone)
				}
				if res.Changed != (len(gone) > 0) {
					t.Errorf("changed %t", res.Changed)
				}
				checkFiles(t, w.s)
				checkIdle(t, w.s, tt.p)
			})
		}
	}
}

func dryRun(p Policy) Options {
	o := options(p)
	o.DryRun = true
	return o
}

// checkIdle: a second run finds nothing to do, and neither does a detection.
func checkIdle(t *testing.T, s objects.Store, p Policy) {
	t.Helper()
	f := faultstore.New(s, nil)
	res, err := Run(t.Context(), f, options(p))
	if err != nil || res.Changed || res.FilesRemoved != 0 || len(res.Removed) != 0 {
		t.Errorf("the second run: %+v, error %v", res, err)
	}
	if n := f.Count(faultstore.Delete, faultstore.Publish, faultstore.Replace, faultstore.Create); n != 0 {
		t.Errorf("the second run changes something: %v", f.Calls())
	}
	if d, err := detect(t.Context(), s, p, start); err != nil || d.Due {
		t.Errorf("after the run: %+v, error %v", d, err)
	}
}

// Versions that follow each other at once have one time; those in the future stay.
func TestPolicyTimes(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	for i := range 4 {
		w.at = start.Add(time.Duration(i-2) * time.Nanosecond)
		w.append() // two before now, one now, one after
	}
	clean(t, w.s, Policy{})
	if got := versions(t, w.s); !slices.Equal(got, []uint64{3, 4}) {
		t.Errorf("left: %v", got)
	}
	w.m.Timestamp = timestamppb.New(start)
}
