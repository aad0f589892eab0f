package table

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// A commit is stopped between finding the newest version and creating the next.
// Others make versions meanwhile, and a cleanup that retains nothing makes room for
// the number that the commit is about to create (reference BUGS #39).
func TestPausedCommit(t *testing.T) {
	foreign := []struct {
		name string
		make func(w *world)
	}{
		{"two deletes", func(w *world) { w.delete(0, false); w.delete(3, false) }},
		{"two deletes in fragments of mine", func(w *world) { w.delete(1, false); w.delete(2, false) }},
		{"two changes of the config", func(w *world) { w.config("a"); w.config("b") }},
		{"two appends", func(w *world) { w.append(1); w.append(1) }},
		{"two larger appends", func(w *world) { w.append(3); w.append(2) }},
		{"an append that is deleted again", func(w *world) { w.delete(w.append(1).Manifest().Fragments[4].Id, true) }},
		{"an append and an overwrite", func(w *world) { w.append(1); w.overwrite(1) }},
		{"an append and a change of the config", func(w *world) { w.append(1); w.config("a") }},
		{"another's reservation, and an append", func(w *world) { w.reserve(1); w.append(1) }},
		{"another's reservation, and a delete", func(w *world) { w.reserve(1); w.delete(0, false) }},
		{"two reservations", func(w *world) { w.reserve(1); w.reserve(1) }},
		{"another rewrite of the same", func(w *world) { w.reserve(1); w.rewrite(w.next(), 1, 2) }},
		{"another rewrite of the same, and an append", func(w *world) { w.reserve(1); w.rewrite(w.next(), 1, 2); w.append(1) }},
		{"another rewrite of the same, and a delete in it", func(w *world) {
			w.reserve(1)
			id := w.next()
			w.rewrite(id, 1, 2)
			w.delete(id, false)
		}},
		{"another rewrite of the same, and an overwrite", func(w *world) { w.reserve(1); w.rewrite(w.next(), 1, 2); w.overwrite(2) }},
		{"the fragments of mine deleted", func(w *world) { w.delete(1, true); w.delete(2, true) }},
		{"two overwrites", func(w *world) { w.overwrite(1); w.overwrite(1) }},
		{"an overwrite and a restore", func(w *world) {
			old := w.overwrite(1).Manifest().Fragments
			w.put(&pb.Transaction{Operation: &pb.Transaction_Restore_{Restore: &pb.Transaction_Restore{Version: 3}}}, func(m *pb.Manifest) { m.Fragments = old })
		}},
		{"four versions", func(w *world) { w.append(1); w.config("a"); w.delete(0, false); w.append(1) }},
	}
	mine := []struct {
		name string
		txn  func(base *Table) *pb.Transaction
	}{
		{"a reservation of one", func(*Table) *pb.Transaction { return reserve(1) }},
		{"a reservation of three", func(*Table) *pb.Transaction { return reserve(3) }},
		{"a rewrite", func(base *Table) *pb.Transaction { return rewriteOf(base, 4, 1, 2) }},
	}
	for _, n := range []Naming{NamingV1, NamingV2} {
		for _, m := range mine {
			for _, f := range foreign {
				t.Run(fmt.Sprintf("%s/%s/%s", n, m.name, f.name), func(t *testing.T) {
					w := newWorld(t, n, 4)
					w.reserve(1)
					pause := faultstore.NewPause(creates(faultstore.Before))
					s := faultstore.New(w.s, pause.Hook)
					base := open(t, s)
					txn := m.txn(base)
					type result struct {
						t   *Table
						err error
					}
					done := make(chan result)
					go func() {
						got, err := committer(nil).Commit(t.Context(), base, txn)
						done <- result{got, err}
					}()
					<-pause.Reached()

					f.make(w)
					theirs := w.head()
					w.drop(slices.DeleteFunc(w.versions(), func(v uint64) bool { return v == theirs.Version() })...)

					pause.Resume()
					got := <-done
					checkHistory(t, w, theirs, got.t, got.err, txn)
				})
			}
		}
	}
}

// next is the highest id that was ever given out.
func (w *world) next() uint64 {
	id, _ := w.head().MaxFragmentID()
	return id
}

// checkHistory makes sure that all versions are in the history of the newest,
// that theirs is part of it, and mine if it is said to be.
func checkHistory(t *testing.T, w *world, theirs, mine *Table, err error, txn *pb.Transaction) {
	t.Helper()
	versions := w.versions()
	if versions[0] < theirs.Version() {
		t.Errorf("versions %v: one was added below %d", versions, theirs.Version())
	}
	head := w.head()
	for _, f := range theirs.Fragments() {
		there := slices.ContainsFunc(head.Fragments(), func(x *pb.DataFragment) bool { return proto.Equal(x, f) })
		if !there && !(err == nil && intersects([]uint64{f.Id}, replaced(txn))) {
			t.Errorf("fragment %d of version %d is lost", f.Id, theirs.Version())
		}
	}
	switch {
	case errors.Is(err, ErrConflict):
		if !proto.Equal(head.Manifest(), theirs.Manifest()) {
			t.Errorf("conflict, and the newest version is %d", head.Version())
		}
	case errors.Is(err, objects.ErrUnknown):
		t.Errorf("not known: %v", err)
	case err != nil:
		t.Errorf("error %v", err)
	default:
		if mine.Version() != head.Version() || mine.Version() <= theirs.Version() {
			t.Errorf("committed as version %d above %d, the newest is %d", mine.Version(), theirs.Version(), head.Version())
		}
	}
}

// The same, but with what came after it built on our commit: it stays, and a
// cleanup may even have taken it away again before the commit looks. Also where a
// tag holds on to what was there before.
func TestCommitBuiltOn(t *testing.T) {
	foreign := []struct {
		name string
		make func(w *world)
	}{
		{"a delete", func(w *world) { w.delete(0, false) }},
		{"an append", func(w *world) { w.append(1) }},
		{"larger appends", func(w *world) { w.append(3); w.append(4) }},
		{"a config", func(w *world) { w.config("x") }},
		{"a reservation", func(w *world) { w.reserve(2) }},
		{"a reservation and its rewrite", func(w *world) { w.reserve(1); w.rewrite(w.next(), 0, 3) }},
		{"an overwrite", func(w *world) { w.overwrite(3) }},
	}
	for _, n := range []Naming{NamingV1, NamingV2} {
		for _, kind := range []string{"reserve", "rewrite"} {
			for _, f := range foreign {
				for _, cleaned := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%s/cleaned %t", n, kind, f.name, cleaned), func(t *testing.T) {
						w := newWorld(t, n, 4)
						w.reserve(1)
						raced := false
						s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
							if creates(faultstore.After)(c) && !raced {
								raced = true
								f.make(w)
								if cleaned {
									w.drop(slices.DeleteFunc(w.versions(), func(v uint64) bool { return v == w.head().Version() })...)
								}
							}
							return faultstore.Pass
						})
						base := open(t, s)
						txn := reserve(2)
						if kind == "rewrite" {
							txn = rewriteOf(base, 4, 1, 2)
						}
						got, err := committer(nil).Commit(t.Context(), base, txn)
						if cleaned && (kind == "reserve" || f.name == "an overwrite") && errors.Is(err, ErrConflict) {
							// Nothing is left that could tell, nor anything to lose.
							return
						}
						if err != nil || got.Version() != 3 {
							t.Errorf("version %v, error %v", got, err)
						}
						if there := slices.Contains(w.versions(), 3); there == cleaned {
							t.Errorf("versions %v", w.versions())
						}
					})
				}
			}
		}
	}
}

// Whether the created version belongs to the history can't be seen: then it is
// not known, and stays.
func TestSettleFails(t *testing.T) {
	boom := errors.New("boom")
	w := newWorld(t, NamingV2, 4)
	created := false
	s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
		if creates(faultstore.After)(c) {
			created = true
		}
		if created && c.Op == faultstore.List {
			return faultstore.Fail(boom)
		}
		return faultstore.Pass
	})
	_, err := committer(nil).Commit(t.Context(), open(t, s), reserve(1))
	if !errors.Is(err, objects.ErrUnknown) {
		t.Errorf("error %v", err)
	}
	if v := w.versions(); len(v) != 2 {
		t.Errorf("versions %v", v)
	}
	// One failure is looked over.
	w = newWorld(t, NamingV2, 4)
	fails := 0
	created = false
	s = faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
		if creates(faultstore.After)(c) {
			created = true
		}
		if created && c.Op == faultstore.List && fails < 3 {
			fails++
			return faultstore.Fail(boom)
		}
		return faultstore.Pass
	})
	if got, err := committer(nil).Commit(t.Context(), open(t, s), reserve(1)); err != nil || got.Version() != 2 {
		t.Errorf("version %v, error %v", got, err)
	}
}

// A version that can't be withdrawn is not known, rather than failed.
func TestWithdrawFails(t *testing.T) {
	for name, hook := range map[string]faultstore.Hook{
		"delete denied": faultstore.Deny(faultstore.Delete),
		"delete lost":   faultstore.When(faultstore.On(faultstore.Before, faultstore.Delete, ""), faultstore.Lose()),
	} {
		w := newWorld(t, NamingV2, 4)
		w.reserve(1)
		pause := faultstore.NewPause(creates(faultstore.Before))
		s := faultstore.New(w.s, faultstore.Chain(hook, pause.Hook))
		base := open(t, s)
		done := make(chan error)
		go func() {
			_, err := committer(nil).Commit(t.Context(), base, rewriteOf(base, 4, 1, 2))
			done <- err
		}()
		select {
		case <-pause.Reached():
			w.delete(0, false)
			w.delete(1, false)
			w.drop(1, 2, 3)
			pause.Resume()
			if err := <-done; !errors.Is(err, objects.ErrUnknown) {
				t.Errorf("%s: error %v", name, err)
			}
		case err := <-done:
			t.Errorf("%s: ended before the create: %v", name, err)
		}
	}
}
