package local_test

import (
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// TestJudgePassesLance has Lance maintain its own tables: a check that finds
// fault with that would find fault with anything.
func TestJudgePassesLance(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, r := range lance.Recipes(t) {
		if !r.Scans || !r.Compacts {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			lance.Make(t, r.Name, dir, oracle.Table{FileVersion: r.Files[len(r.Files)-1]})
			before := lance.Snapshot(t, dir)
			lance.Compact(t, dir, 0)
			after := lance.Check(t, before, oracle.Change{Fragments: true, Lance: true})
			if r.Refs || r.Name == "detached" {
				// Lance's own cleanup is at fault there.
				return
			}
			lance.Do(t, "cleanup", oracle.Args{"uri": dir}, nil)
			lance.Check(t, after, oracle.Change{Versions: true, Lance: true})
		})
	}
}
