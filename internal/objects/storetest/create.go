package storetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// large is above every chunk and buffer that a store may have, and odd.
const large = 9<<20 + 12345

func publish(t *testing.T, s objects.Store) {
	put(t, s, "_versions/1.manifest", []byte("one"))
	put(t, s, "_versions/2.manifest", nil)
	put(t, s, "top", noise(1, 70_000))
	e := holds(t, s, "_versions/1.manifest", []byte("one"))
	// An hour allows for a store's clock that is not ours.
	if age := time.Since(e.ModTime); age > time.Hour || age < -time.Hour {
		t.Errorf("the new object is dated %v", e.ModTime)
	}
	holds(t, s, "_versions/2.manifest", nil)
	holds(t, s, "top", noise(1, 70_000))
}

func publishTaken(t *testing.T, s objects.Store) {
	put(t, s, "v/1", []byte("first"))
	before := holds(t, s, "v/1", []byte("first"))
	for _, p := range [][]byte{[]byte("other"), []byte("first"), nil} {
		wantErr(t, "Publish over it", s.Publish(t.Context(), "v/1", p), objects.ErrExists)
	}
	stream(t, s, "v/2", []byte("first"))
	wantErr(t, "Publish over a stream", s.Publish(t.Context(), "v/2", []byte("other")), objects.ErrExists)
	if after := holds(t, s, "v/1", []byte("first")); after.Token != before.Token {
		t.Errorf("token of an untouched object: %q, then %q", before.Token, after.Token)
	}
	holds(t, s, "v/2", []byte("first"))
	if got := names(entries(t, s, "v")); len(got) != 2 {
		t.Errorf("the losers left something: %q", got)
	}
}

func write(t *testing.T, s objects.Store) {
	want := noise(2, large)
	// Pieces below, at and above the sizes at which stores begin to do something else.
	var pieces [][]byte
	rest := want
	for _, n := range []int{1, 0, 4095, 1<<20 - 1, 1, 1 << 20, 3<<20 + 7, 100, 4 << 20} {
		n = min(n, len(rest))
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	pieces = append(pieces, rest)
	made := stream(t, s, "data/a.lance", pieces...)
	e := holds(t, s, "data/a.lance", want)
	if made.Name != "data/a.lance" || made.Size != int64(len(want)) || made.Token != e.Token || !made.ModTime.Equal(e.ModTime) {
		t.Errorf("Finish says %+v, Open %+v", made, e)
	}
}

func writeEmpty(t *testing.T, s objects.Store) {
	stream(t, s, "data/empty")
	e := holds(t, s, "data/empty", nil)
	stream(t, s, "data/empty2", nil)
	holds(t, s, "data/empty2", nil)
	r, err := s.Open(t.Context(), "data/empty")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if e.Size != 0 {
		t.Errorf("size %d", e.Size)
	}
	wantErr(t, "reading a byte of nothing", r.ReadAt(t.Context(), make([]byte, 1), 0), objects.ErrShort)
}

// writerKeepsNothing: the caller may use its slice again when Write returns.
func writerKeepsNothing(t *testing.T, s objects.Store) {
	w, err := s.Create(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	var want []byte
	p := make([]byte, 300_000)
	for i := range 20 {
		copy(p, noise(uint64(i), len(p)))
		want = append(want, p...)
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
		clear(p)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds(t, s, "data/x", want)
}

func invisibleBeforeFinish(t *testing.T, s objects.Store) {
	put(t, s, "data/other", nil)
	w, err := s.Create(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	absent(t, s, "data/x")
	for i := range 3 {
		if _, err := w.Write(noise(uint64(i), large/3)); err != nil {
			t.Fatal(err)
		}
		absent(t, s, "data/x")
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := bytes.Join([][]byte{noise(0, large/3), noise(1, large/3), noise(2, large/3)}, nil)
	holds(t, s, "data/x", want)
	if got := names(entries(t, s, "data")); len(got) != 2 {
		t.Errorf("listing %q, want x and other alone", got)
	}
}

// finishTaken: the name is free at Create and taken at Finish, or taken before both.
func finishTaken(t *testing.T, s objects.Store) {
	w, err := s.Create(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write(noise(3, 100_000)); err != nil {
		t.Fatal(err)
	}
	put(t, s, "data/x", []byte("faster"))
	_, err = w.Finish(t.Context())
	wantErr(t, "Finish over it", err, objects.ErrExists)
	holds(t, s, "data/x", []byte("faster"))

	late, err := s.Create(t.Context(), "data/x")
	if err == nil {
		_, err = late.Finish(t.Context())
		late.Abort()
	}
	wantErr(t, "Create over it", err, objects.ErrExists)
	holds(t, s, "data/x", []byte("faster"))
	if es := entries(t, s, "data"); len(es) != 1 {
		t.Errorf("the losers left something: %q", names(es))
	}
}

// finishEnds: a writer that has ended does nothing any more.
func finishEnds(t *testing.T, s objects.Store) {
	w, err := s.Create(t.Context(), "data/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("whole")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	w.Abort()
	if _, err := w.Write([]byte("more")); err == nil {
		t.Error("Write after Finish: no error")
	}
	if _, err := w.Finish(t.Context()); err == nil {
		t.Error("second Finish: no error")
	}
	holds(t, s, "data/x", []byte("whole"))
}

func abort(t *testing.T, s objects.Store) {
	for i, n := range []int{0, 10, large} {
		w, err := s.Create(t.Context(), "_indices/u/x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(noise(uint64(i), n)); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		w.Abort()
		absent(t, s, "_indices/u/x")
		if _, err := w.Finish(t.Context()); err == nil {
			t.Error("Finish after Abort: no error")
		}
		absent(t, s, "_indices/u/x")
		// Unfinished objects included: nothing is to be left.
		for _, dir := range []string{"_indices/u", "_indices"} {
			if es, err := s.List(t.Context(), dir, "", 10); err != nil || len(es) != 0 {
				t.Errorf("%q after Abort: %q, %v", dir, names(es), err)
			}
		}
	}
	put(t, s, "_indices/u/x", []byte("the name is free"))
}
