package compact

import (
	"math"
	"testing"
	"time"
)

func TestProgressLeft(t *testing.T) {
	for _, tt := range []struct {
		done, bytes int64
		passed      time.Duration
		want        time.Duration
		ok          bool
	}{
		{25, 100, time.Minute, 3 * time.Minute, true},
		{100, 100, time.Minute, 0, true},
		{25, 100, time.Second, 0, false}, // too early
		{0, 100, time.Minute, 0, false},
		{0, 0, time.Minute, 0, false},
		{7, 5, time.Minute, 0, false},
		{1, math.MaxInt64, time.Hour, 24_000 * time.Hour, true},
		{25, 100, -time.Minute, 0, false}, // the clock was set
	} {
		if got, ok := (Progress{BytesDone: tt.done, Bytes: tt.bytes}).Left(tt.passed); got != tt.want || ok != tt.ok {
			t.Errorf("%d of %d in %s: %s, %t", tt.done, tt.bytes, tt.passed, got, ok)
		}
	}
}
