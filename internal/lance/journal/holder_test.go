package journal

import (
	"os"
	"testing"
	"time"
)

func TestAliveInThisProcess(t *testing.T) {
	if hostIdentity() == "" {
		t.Skip("this system does not tell machines and processes apart")
	}
	run, end := Begin()
	other, endOther := Begin()
	defer endOther()
	if run == other {
		t.Fatal("two runs of one name")
	}
	r := New(Rewrite, now)
	if r.Holder.Host == "" || r.Holder.PID != os.Getpid() || r.Holder.Start == "" {
		t.Errorf("holder %+v", r.Holder)
	}
	r.Holder.Run = run
	// However old the record is.
	r.ModTime = now.Add(-30 * 24 * time.Hour)
	if !r.Alive(now) {
		t.Error("a run under way is taken for dead")
	}
	end()
	r.ModTime = now
	if r.Alive(now) {
		t.Error("a run that has ended is taken for alive")
	}
	r.Holder.Run = ""
	if r.Alive(now) {
		t.Error("a record of no run is taken for alive")
	}
	// The same number, given to another process later.
	r.Holder.Run, r.Holder.Start = other, "1"
	if r.Alive(now) {
		t.Error("an earlier process of our number is taken for alive")
	}
}

// A record of another machine, or of one that can't be told: its age decides.
func TestAliveElsewhere(t *testing.T) {
	for _, host := range []string{"", "other"} {
		r := New(Rewrite, now)
		r.Holder = Holder{Host: host, PID: os.Getpid(), Start: processStart(os.Getpid()), Run: "x"}
		for _, tt := range []struct {
			age  time.Duration
			want bool
		}{
			{0, true}, {TouchEvery, true}, {claimTTL - time.Second, true}, {claimTTL, false}, {time.Hour, false},
			{-time.Hour, true}, // their clock is ahead
		} {
			r.ModTime = now.Add(-tt.age)
			if got := r.Alive(now); got != tt.want {
				t.Errorf("host %q, %s old: alive %t", host, tt.age, got)
			}
		}
	}
	if TouchEvery*2 > claimTTL {
		t.Error("a record that is touched once too late is taken for dead")
	}
}
