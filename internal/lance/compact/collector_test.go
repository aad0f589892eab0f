package compact

import (
	"runtime"
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
	held := make([]byte, 3*fewGarbage) // nothing but the least is allowed beside so much
	defer runtime.KeepAlive(held)
	for _, c := range []struct{ before, during int }{{100, leastPercent}, {leastPercent - 1, leastPercent - 1}, {-1, -1}} {
		debug.SetGCPercent(c.before)
		runtime.GC()
		one := collectOften(1 << 40)
		two := collectOften(1 << 40)
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
		runtime.GC() // so that it is known what is in use
		end := collectOften(1)
		if got := percent(); got != c.before {
			t.Errorf("%d in a process that is large already, %d before", got, c.before)
		}
		end()
	}
}

func TestPercentOf(t *testing.T) {
	for _, c := range []struct {
		live         uint64
		before, want int
	}{{0, 100, 100}, {fewGarbage / 4, 100, 100}, {fewGarbage / 4, 1000, 400}, {2 * fewGarbage, 100, 50}, {100 * fewGarbage, 100, leastPercent}} {
		if got := percentOf(c.live, c.before); got != c.want {
			t.Errorf("%d in use, %d before: %d, want %d", c.live, c.before, got, c.want)
		}
	}
}
