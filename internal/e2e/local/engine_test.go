package local_test

import (
	"context"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// store is the table's directory. Power cuts are not what these tests are about.
func store(tb testing.TB, dir string) objects.Store {
	tb.Helper()
	s, err := dirstore.New(dir, dirstore.Options{NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func compactNow(tb testing.TB, dir string, target int64) compact.Result {
	tb.Helper()
	r, err := compact.Run(context.Background(), store(tb, dir), compact.Options{Policy: compact.Policy{TargetRows: target, Fixed: compact.SettingTargetRows}})
	if err != nil {
		tb.Fatalf("compaction: %v (%+v)", err, r)
	}
	return r
}

func cleanNow(tb testing.TB, dir string, o cleanup.Options) cleanup.Result {
	tb.Helper()
	r, err := cleanup.Run(context.Background(), store(tb, dir), o)
	if err != nil {
		tb.Fatalf("cleanup: %v (%+v)", err, r)
	}
	return r
}

// settled asserts that another compaction finds nothing to do: IDEMP.
func settled(tb testing.TB, lance *oracle.Lance, dir string, target int64) {
	tb.Helper()
	before := listing(tb, lance, dir)
	r := compactNow(tb, dir, target)
	if r.Changed || len(r.Plan.Tasks) > 0 || r.BytesWritten > 0 {
		tb.Errorf("a second run goes on: %+v", r)
	}
	same(tb, "a second compaction", before, listing(tb, lance, dir))
}

// listing is what lies in a directory: names with sizes.
func listing(tb testing.TB, lance *oracle.Lance, dir string) map[string]int64 {
	tb.Helper()
	files := map[string]oracle.File{}
	lance.Do(tb, "listing", oracle.Args{"root": dir}, &files)
	out := map[string]int64{}
	for name, f := range files {
		out[name] = f.Size
	}
	return out
}

// same asserts that a step changed no file.
func same(tb testing.TB, step string, before, after map[string]int64) {
	tb.Helper()
	for f := range before {
		if _, ok := after[f]; !ok {
			tb.Errorf("%s removed %s", step, f)
		}
	}
	for f, size := range after {
		if was, ok := before[f]; !ok {
			tb.Errorf("%s wrote %s", step, f)
		} else if was != size {
			tb.Errorf("%s changed %s", step, f)
		}
	}
}
