package render

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

func TestInstantOfLocalTimes(t *testing.T) {
	for _, c := range []struct {
		v    int64
		zone string
		want string
	}{
		{0, "America/New_York", "1969-12-31T19:00:00-05:00"},
		// -4:56:02 until 1883.
		{-3000000000, "America/New_York", "1874-12-07T18:40:00Z"},
		{0, "+05:30", "1970-01-01T05:30:00+05:30"},
		{0, "no/such", "1970-01-01T00:00:00Z"},
	} {
		if got := instant(c.v, arrow.Second, c.zone); got != c.want {
			t.Errorf("%d in %s: %s, want %s", c.v, c.zone, got, c.want)
		}
	}
}
