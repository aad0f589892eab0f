package compact

import (
	"runtime/debug"
	"testing"
)

func TestCollectOften(t *testing.T) {
	percent := func() int {
		n := debug.SetGCPercent(100)
		debug.SetGCPercent(n)
		return n
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, c := range []struct{ before, during int }{{100, collectAt}, {collectAt - 1, collectAt - 1}, {-1, -1}} {
		debug.SetGCPercent(c.before)
		one := collectOften()
		two := collectOften()
		if got := percent(); got != c.during {
			t.Errorf("%d during runs, want %d", got, c.during)
		}
		one()
		one()
		if got := percent(); got != c.during {
			t.Errorf("%d during the other run, want %d", got, c.during)
		}
		two()
		if got := percent(); got != c.before {
			t.Errorf("%d after the runs, %d before", got, c.before)
		}
	}
}
