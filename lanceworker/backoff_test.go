package lanceworker

import (
	"testing"
	"time"
)

func TestBackoffDoublesUpToAnHour(t *testing.T) {
	var b backoff
	c := newClock()
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60}
	for i, minutes := range want {
		b.fail("a", c.now(), reading, "broken", false)
		f, held := b.held("a", c.now())
		if !held || f.until.Sub(c.now()) != minutes*time.Minute || f.count != i+1 {
			t.Fatalf("after failure %d: held %v for %s, count %d", i+1, held, f.until.Sub(c.now()), f.count)
		}
		c.advance(minutes*time.Minute - 1)
		if _, held := b.held("a", c.now()); !held {
			t.Fatalf("failure %d: let go too early", i+1)
		}
		c.advance(1)
		if _, held := b.held("a", c.now()); held {
			t.Fatalf("failure %d: still held", i+1)
		}
	}
	// Never so many that the shift matters.
	for range 100 {
		b.fail("a", c.now(), reading, "broken", false)
	}
	if f, _ := b.held("a", c.now()); f.until.Sub(c.now()) != time.Hour {
		t.Errorf("held for %s", f.until.Sub(c.now()))
	}
}

func TestBackoffForgets(t *testing.T) {
	c := newClock()
	held := func(b *backoff) bool { _, h := b.held("a", c.now()); return h }

	var b backoff
	b.fail("a", c.now(), running, "job failed", false)
	b.succeed("a", reading)
	if !held(&b) {
		t.Error("that the table can be read took back that its job failed")
	}
	b.succeed("a", running)
	if held(&b) {
		t.Error("held after a job that went well")
	}

	b.fail("a", c.now(), reading, "broken", false)
	b.succeed("a", reading)
	if held(&b) {
		t.Error("held after it could be read")
	}

	b.fail("a", c.now(), running, "job failed", false)
	b.fail("a", c.now(), running, "job failed", false)
	b.fail("a", c.now(), running, "job failed later", true)
	if f, _ := b.held("a", c.now()); f.count != 1 || f.until.Sub(c.now()) != firstPause {
		t.Errorf("after some progress: %+v", f)
	}

	b.keep(func(name string) bool { return name == "b" })
	if held(&b) {
		t.Error("held though it is no more")
	}
}
