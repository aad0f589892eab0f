package cleanup

import (
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// checkFiles: every version that is left is whole, and nothing else is left.
func checkFiles(t *testing.T, s *dirstore.Store) {
	t.Helper()
	if o := orphans(files(t, s), everyVersion(t, s)); len(o) > 0 {
		t.Errorf("orphans: %v", o)
	}
}
