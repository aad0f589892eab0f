package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// creates selects the creation of manifests.
func creates(p faultstore.Phase) faultstore.Match {
	return faultstore.On(p, faultstore.Publish, VersionsDir+"/")
}

func TestCommitReserve(t *testing.T) {
	for _, n := range []Naming{NamingV1, NamingV2} {
		w := newWorld(t, n, 3)
		w.append(2)
		base := w.head()
		txn := reserve(5)
		got, err := committer(nil).Commit(t.Context(), base, txn)
		if err != nil {
			t.Fatal(err)
		}
		head := w.head()
		if got.Version() != 3 || head.Version() != 3 || !proto.Equal(got.Manifest(), head.Manifest()) {
			t.Errorf("%s: version %d, stored %d", n, got.Version(), head.Version())
		}
		m := head.Manifest()
		if m.GetMaxFragmentId() != 9 || ids(head) != ids(base) {
			t.Errorf("%s: highest id %d, fragments %s", n, m.GetMaxFragmentId(), ids(head))
		}
		if m.GetTimestamp().AsTime() != time.Unix(1.8e9, 0).UTC() || m.GetWriterVersion().GetLibrary() == "lance" {
			t.Errorf("%s: made at %s by %v", n, m.GetTimestamp().AsTime(), m.GetWriterVersion())
		}
		name := fmt.Sprintf("2-%s.txn", txn.Uuid)
		if m.GetTransactionFile() != name {
			t.Errorf("%s: transaction file %s", n, m.GetTransactionFile())
		}
		want := &pb.Transaction{ReadVersion: 2, Uuid: txn.Uuid, Operation: txn.Operation}
		stored := new(pb.Transaction)
		if err := proto.Unmarshal(read(t, w.s, TransactionsDir+"/"+name), stored); err != nil || !proto.Equal(stored, want) {
			t.Errorf("%s: transaction file holds %v, error %v", n, stored, err)
		}
		if inline, err := head.Transaction(t.Context()); err != nil || !proto.Equal(inline, want) || head.file.transaction == nil {
			t.Errorf("%s: inline transaction %v, error %v", n, inline, err)
		}
	}
}

func TestCommitRewrite(t *testing.T) {
	w := newWorld(t, NamingV2, 6)
	w.reserve(2) // ids 6 and 7
	base := w.head()
	txn := rewriteOf(base, 7, 2, 3)
	w.append(1)        // 8
	w.delete(5, false) // another fragment
	w.config("x")      // touches none
	got, err := committer(nil).Commit(t.Context(), base, txn)
	if err != nil {
		t.Fatal(err)
	}
	if ids(got) != "[0 1 4 5 7 8]" || ids(w.head()) != ids(got) {
		t.Errorf("fragments %s", ids(got))
	}
	m := got.Manifest()
	if m.GetReaderFeatureFlags() != FlagDeletionFiles || m.GetWriterFeatureFlags() != FlagDeletionFiles|FlagTableConfig {
		t.Errorf("flags %d/%d", m.GetReaderFeatureFlags(), m.GetWriterFeatureFlags())
	}
	if m.GetMaxFragmentId() != 8 || got.Rows() != 69 || m.GetConfig()["x"] != "x" {
		t.Errorf("highest id %d, %d rows, config %v", m.GetMaxFragmentId(), got.Rows(), m.GetConfig())
	}
	stored, err := got.Transaction(t.Context())
	if err != nil || stored.GetReadVersion() != base.Version() {
		t.Errorf("read version %d, error %v", stored.GetReadVersion(), err)
	}
}

// What a rewrite was prepared on must still be there, whatever others say that they did.
func TestRewriteThatNoLongerFits(t *testing.T) {
	// A transaction that claims to be harmless.
	quiet := func(w *world, alter func(m *pb.Manifest)) {
		w.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: &pb.Transaction_UpdateConfig{}}}, alter)
	}
	tests := []struct {
		name   string
		change func(w *world)
		says   string
	}{
		{"a fragment is gone", func(w *world) {
			quiet(w, func(m *pb.Manifest) { m.Fragments = slices.Delete(m.Fragments, 1, 2) })
		}, "fragment 1"},
		{"a fragment has deletions", func(w *world) {
			quiet(w, func(m *pb.Manifest) { m.Fragments[2].DeletionFile = &pb.DeletionFile{NumDeletedRows: 1} })
		}, "fragment 2"},
		{"a fragment has another file", func(w *world) {
			quiet(w, func(m *pb.Manifest) { m.Fragments[2].Files[0].Path = "other.lance" })
		}, "fragment 2"},
		{"the id is taken", func(w *world) {
			quiet(w, func(m *pb.Manifest) { m.Fragments = append(m.Fragments, tinyFragment(5)) })
		}, "5"},
		{"rows of mine deleted", func(w *world) { w.delete(1, false) }, "version 3"},
		{"a fragment of mine deleted", func(w *world) { w.delete(2, true) }, "version 3"},
		{"overwritten", func(w *world) { w.overwrite(1) }, "version 3"},
		{"rewritten by another", func(w *world) { w.rewrite(4, 0, 1) }, "version 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, NamingV2, 4)
			w.reserve(2) // ids 4 and 5
			base := w.head()
			txn := rewriteOf(base, 5, 1, 2)
			tt.change(w)
			before := w.head()
			_, err := committer(nil).Commit(t.Context(), base, txn)
			if !errors.Is(err, ErrConflict) || errors.Is(err, objects.ErrUnknown) {
				t.Fatalf("error %v", err)
			}
			says(t, err, tt.says)
			if after := w.head(); !proto.Equal(before.Manifest(), after.Manifest()) {
				t.Errorf("version %d", after.Version())
			}
		})
	}
	t.Run("an index covers it now", func(t *testing.T) {
		w := newWorld(t, NamingV2, 4)
		section, err := proto.Marshal(&pb.IndexSection{Indices: []*pb.IndexMetadata{{Name: "i", FragmentBitmap: bitmapOf(t, 2, 3)}}})
		if err != nil {
			t.Fatal(err)
		}
		m := proto.CloneOf(w.head().Manifest())
		m.Version, m.MaxFragmentId = 2, proto.Uint32(5)
		publishManifest(t, w.s, w.n, &manifestFile{manifest: m, indexSection: section})
		base := w.head()
		if _, err := committer(nil).Commit(t.Context(), base, rewriteOf(base, 5, 1, 2)); !errors.Is(err, ErrConflict) {
			t.Errorf("error %v", err)
		}
		if _, err := committer(nil).Commit(t.Context(), base, rewriteOf(base, 5, 0, 1)); err != nil {
			t.Errorf("beside the index: %v", err)
		}
	})
	t.Run("the id was never reserved", func(t *testing.T) {
		w := newWorld(t, NamingV2, 4)
		if _, err := committer(nil).Commit(t.Context(), w.head(), rewriteOf(w.head(), 4, 1, 2)); !errors.Is(err, ErrConflict) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a fragment in two groups", func(t *testing.T) {
		w := newWorld(t, NamingV2, 4)
		w.reserve(2)
		txn := rewriteOf(w.head(), 4, 1, 2)
		rw := txn.GetRewrite()
		rw.Groups = append(rw.Groups, rewriteOf(w.head(), 5, 2, 3).GetRewrite().Groups...)
		if _, err := committer(nil).Commit(t.Context(), w.head(), txn); !errors.Is(err, ErrConflict) {
			t.Errorf("error %v", err)
		}
	})
}

func TestReserveWhenIDsRunOut(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	w.put(reserve(1), func(m *pb.Manifest) { m.MaxFragmentId = proto.Uint32(1<<32 - 3) })
	if _, err := committer(nil).Commit(t.Context(), w.head(), reserve(3)); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
	if got, err := committer(nil).Commit(t.Context(), w.head(), reserve(2)); err != nil || got.Manifest().GetMaxFragmentId() != 1<<32-1 {
		t.Errorf("%v, error %v", got, err)
	}
}

// A table that keeps transactions inside manifests only gets no file.
func TestCommitWithoutTransactionFile(t *testing.T) {
	s := dirStore(t, t.TempDir())
	m := tinyManifest(1)
	m.WriterFeatureFlags = FlagNoTransactionFile
	publishManifest(t, s, NamingV2, &manifestFile{manifest: m})
	txn := reserve(1)
	got, err := committer(nil).Commit(t.Context(), open(t, s), txn)
	if err != nil {
		t.Fatal(err)
	}
	if n := names(t, s, TransactionsDir); len(n) != 0 || got.Manifest().GetTransactionFile() != "" {
		t.Errorf("transaction files %v, the manifest names %q", n, got.Manifest().GetTransactionFile())
	}
	if got.transactionUUID() != txn.Uuid || got.Manifest().GetWriterFeatureFlags() != FlagNoTransactionFile {
		t.Errorf("uuid %q, flags %d", got.transactionUUID(), got.Manifest().GetWriterFeatureFlags())
	}
}

// Operations that are not this build's business, and a transaction without a name.
func TestCommitRefusesOthersOperations(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	if _, err := committer(nil).Commit(t.Context(), w.head(), &pb.Transaction{Operation: reserve(1).Operation}); err == nil {
		t.Error("a transaction without a uuid was committed")
	}
	txn := &pb.Transaction{Uuid: "u", Operation: &pb.Transaction_Append_{Append: &pb.Transaction_Append{}}}
	if _, err := committer(nil).Commit(t.Context(), w.head(), txn); err == nil {
		t.Error("an append was committed")
	}
	if v := w.versions(); len(v) != 1 {
		t.Errorf("versions %v", v)
	}
}

// A create whose answer is lost: look, and decide by the transaction's uuid.
func TestCommitLostAnswer(t *testing.T) {
	lookFails := faultstore.When(func(c faultstore.Call) bool {
		return c.Op == faultstore.Open && c.Phase == faultstore.Before && c.Name == NamingV2.ManifestName(2)
	}, faultstore.Fail(errors.New("boom")))
	tests := []struct {
		name     string
		hook     faultstore.Hook
		want     error // nil: committed
		versions []uint64
		landed   []uint64
	}{
		{"applied", faultstore.Nth(0, creates(faultstore.After), faultstore.Lose()), nil, []uint64{1, 2}, []uint64{1, 2}},
		{"not applied", faultstore.Nth(0, creates(faultstore.Before), faultstore.Lose()), objects.ErrUnknown, []uint64{1}, []uint64{1}},
		{"applied later", faultstore.Nth(0, creates(faultstore.Before), faultstore.Delay()), objects.ErrUnknown, []uint64{1}, []uint64{1, 2}},
		{"applied, and the look fails", faultstore.Chain(faultstore.Nth(0, creates(faultstore.After), faultstore.Lose()), lookFails),
			objects.ErrUnknown, []uint64{1, 2}, []uint64{1, 2}},
		{"transaction applied", faultstore.Nth(0, faultstore.On(faultstore.After, faultstore.Publish, TransactionsDir), faultstore.Lose()), objects.ErrUnknown, []uint64{1}, []uint64{1}},
		{"transaction not applied", faultstore.Nth(0, faultstore.On(faultstore.Before, faultstore.Publish, TransactionsDir), faultstore.Lose()), objects.ErrUnknown, []uint64{1}, []uint64{1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, NamingV2, 1)
			s := faultstore.New(w.s, tt.hook)
			txn := reserve(1)
			got, err := committer(nil).Commit(t.Context(), open(t, s), txn)
			switch {
			case tt.want == nil && (err != nil || got.Version() != 2):
				t.Errorf("version %v, error %v", got, err)
			case tt.want != nil && (!errors.Is(err, objects.ErrUnknown) || errors.Is(err, ErrConflict)):
				t.Errorf("error %v", err)
			}
			if v := w.versions(); !slices.Equal(v, tt.versions) {
				t.Errorf("versions %v", v)
			}
			s.Land(t.Context())
			if v := w.versions(); !slices.Equal(v, tt.landed) {
				t.Errorf("versions after all has landed: %v", v)
			}
			if len(tt.landed) == 2 && w.head().transactionUUID() != txn.Uuid {
				t.Error("the version is somebody else's")
			}
		})
	}
}

// A create that was answered with "exists", though it is ours: an exclusive
// create that was sent twice.
type echo struct{ objects.Store }

func (e echo) Publish(ctx context.Context, name string, b []byte) error {
	if err := e.Store.Publish(ctx, name, b); err != nil {
		return err
	}
	return fmt.Errorf("creating %s: %w", name, objects.ErrExists)
}

func TestCommitExistsOwn(t *testing.T) {
	for _, n := range []Naming{NamingV1, NamingV2} {
		w := newWorld(t, n, 1)
		waits := 0
		got, err := committer(&waits).Commit(t.Context(), open(t, echo{w.s}), reserve(1))
		if err != nil || got.Version() != 2 || waits != 0 {
			t.Errorf("%s: version %v after %d waits, error %v", n, got, waits, err)
		}
		if v := w.versions(); len(v) != 2 {
			t.Errorf("versions %v", v)
		}
	}
}

// The transaction is known by its file, too, where it is not inside the manifest.
func TestCommitExistsOwnWithoutInlineTransaction(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	txn := reserve(1)
	m := proto.CloneOf(w.head().Manifest())
	m.Version, m.TransactionFile = 2, "1-"+txn.Uuid+".txn"
	s := faultstore.New(w.s, faultstore.When(creates(faultstore.Before), faultstore.Fail(objects.ErrExists)))
	base := open(t, s)
	publishManifest(t, w.s, w.n, &manifestFile{manifest: m})
	c := &commit{base: base, head: base, txn: txn, uuid: txn.Uuid}
	if mine, err := c.isMine(t.Context(), 2); !mine || err != nil {
		t.Errorf("mine %t, error %v", mine, err)
	}
	c.uuid = reserve(1).Uuid
	if mine, err := c.isMine(t.Context(), 2); mine || err != nil {
		t.Errorf("somebody else's: mine %t, error %v", mine, err)
	}
}

// Somebody else is faster: the commit goes on top of theirs.
func TestCommitExistsForeign(t *testing.T) {
	for name, lose := range map[string]bool{"exists": false, "answer lost too": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, NamingV2, 2)
			waits, raced := 0, 0
			hook := func(c faultstore.Call) faultstore.Action {
				if creates(faultstore.Before)(c) && raced < 3 {
					raced++
					w.append(1)
				}
				if lose && creates(faultstore.After)(c) && c.Err != nil {
					return faultstore.Lose()
				}
				return faultstore.Pass
			}
			got, err := committer(&waits).Commit(t.Context(), open(t, faultstore.New(w.s, hook)), reserve(2))
			if err != nil || got.Version() != 5 || waits != 3 {
				t.Fatalf("version %v after %d waits, error %v", got, waits, err)
			}
			if ids(got) != "[0 1 2 3 4]" || got.Manifest().GetMaxFragmentId() != 6 {
				t.Errorf("fragments %s, highest id %d", ids(got), got.Manifest().GetMaxFragmentId())
			}
			txn, err := got.Transaction(t.Context())
			if err != nil || txn.GetReadVersion() != 1 {
				t.Errorf("it was read at version %d (%v)", txn.GetReadVersion(), err)
			}
		})
	}
}

// Other writers win every attempt.
func TestCommitContended(t *testing.T) {
	for _, attempts := range []int{0, 3} {
		w := newWorld(t, NamingV2, 1)
		s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
			if creates(faultstore.Before)(c) {
				w.config("x")
			}
			return faultstore.Pass
		})
		var waits []time.Duration
		c := Committer{Attempts: attempts, Wait: func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}}
		_, err := c.Commit(t.Context(), open(t, s), reserve(1))
		if !errors.Is(err, ErrContended) || errors.Is(err, objects.ErrUnknown) {
			t.Errorf("error %v", err)
		}
		want := attempts
		if want == 0 {
			want = 20
		}
		if n := len(w.versions()) - 1; n != want || len(waits) != want {
			t.Errorf("%d attempts and %d waits, want %d", n, len(waits), want)
		}
		for i, d := range waits {
			low := min(firstWait<<i, maxWait)
			if d < low || d > 2*low {
				t.Errorf("wait %d: %s, want %s to %s", i, d, low, 2*low)
			}
		}
		for _, v := range w.versions() {
			if x, err := OpenVersion(t.Context(), w.s, w.n, v); err != nil || x.Manifest().GetMaxFragmentId() != 0 {
				t.Errorf("version %d has reserved something, or error %v", v, err)
			}
		}
	}
}

func TestCommitWaitEnds(t *testing.T) {
	w := newWorld(t, NamingV2, 1)
	s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
		if creates(faultstore.Before)(c) {
			w.config("x")
		}
		return faultstore.Pass
	})
	ctx, cancel := context.WithCancel(t.Context())
	c := Committer{Wait: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }}
	if _, err := c.Commit(ctx, open(t, s), reserve(1)); !errors.Is(err, context.Canceled) || errors.Is(err, objects.ErrUnknown) {
		t.Errorf("error %v", err)
	}
	// And the clock's own way of waiting.
	if err := (Committer{}).wait(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := (Committer{}).wait(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// A store that fails without having done it is asked again, one that refuses is not.
func TestCommitStoreFails(t *testing.T) {
	boom := errors.New("boom")
	for _, dir := range []string{TransactionsDir, VersionsDir} {
		for _, tt := range []struct {
			fails   int
			err     error
			calls   int
			success bool
		}{
			{1, boom, 2, true}, {3, boom, 4, true}, {4, boom, 4, false}, {1, objects.ErrDenied, 1, false},
		} {
			w := newWorld(t, NamingV2, 1)
			failed := 0
			s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
				if c.Phase == faultstore.Before && c.Op == faultstore.Publish && strings.HasPrefix(c.Name, dir) && failed < tt.fails {
					failed++
					return faultstore.Fail(tt.err)
				}
				return faultstore.Pass
			})
			_, err := committer(nil).Commit(t.Context(), open(t, s), reserve(1))
			if tt.success != (err == nil) || err != nil && (!errors.Is(err, tt.err) || errors.Is(err, objects.ErrUnknown)) {
				t.Errorf("%s, %d times %v: error %v", dir, tt.fails, tt.err, err)
			}
			calls := 0
			for _, c := range s.Calls() {
				if c.Op == faultstore.Publish && strings.HasPrefix(c.Name, dir) {
					calls++
				}
			}
			if calls != tt.calls {
				t.Errorf("%s, %d times %v: %d calls", dir, tt.fails, tt.err, calls)
			}
			if got := len(w.versions()) == 2; got != tt.success {
				t.Errorf("%s, %d times %v: versions %v", dir, tt.fails, tt.err, w.versions())
			}
		}
	}
}

// A cancel in the middle: what the error says is what has happened.
func TestCommitCancelled(t *testing.T) {
	for p := range faultstore.Points() {
		w := newWorld(t, NamingV2, 1)
		base := w.head()
		ctx, cancel := context.WithCancel(t.Context())
		s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
			if p.Match(c) {
				cancel()
			}
			return faultstore.Pass
		})
		got, err := committer(nil).Commit(ctx, &Table{store: s, ref: base.ref, naming: base.naming, file: base.file}, reserve(1))
		cancel()
		there := len(w.versions()) == 2
		switch {
		case err == nil && (!there || got.Version() != 2):
			t.Errorf("%v: success, versions %v", p, w.versions())
		case err != nil && !errors.Is(err, objects.ErrUnknown) && there:
			t.Errorf("%v: error %v, and a new version", p, err)
		}
	}
}

// Every store call fails in turn, with an answer that says that it has not happened.
func TestCommitEveryCallFails(t *testing.T) {
	boom := errors.New("boom")
	for _, action := range []faultstore.Action{faultstore.Fail(boom), faultstore.Lose(), faultstore.Delay(), faultstore.Die()} {
		for p := range faultstore.Points() {
			if p.Phase == faultstore.After && action == faultstore.Fail(boom) {
				// Done, and a failure: no store may answer so. Points goes on.
				p.Match(faultstore.Call{N: p.N, Phase: p.Phase})
				if p.N > 30 {
					break
				}
				continue
			}
			w := newWorld(t, NamingV2, 2)
			w.reserve(1)
			write(t, w.s, HintName, `{"version":2}`)
			base := w.head()
			s := faultstore.New(w.s, p.Hook(action))
			txn := rewriteOf(base, 2, 0, 1)
			got, err := committer(nil).Commit(t.Context(), &Table{store: s, ref: base.ref, naming: base.naming, file: base.file}, txn)
			there := len(w.versions()) == 3
			switch {
			case err == nil && (!there || got.Version() != 3):
				t.Errorf("%v: success, versions %v", p, w.versions())
			case err != nil && there && !errors.Is(err, objects.ErrUnknown) && !errors.Is(err, faultstore.ErrDead):
				t.Errorf("%v: error %v, and a new version", p, err)
			}
			s.Land(t.Context())
			if late := len(w.versions()) == 3; late && err != nil && !errors.Is(err, objects.ErrUnknown) && !errors.Is(err, faultstore.ErrDead) {
				t.Errorf("%v: error %v, and a new version later", p, err)
			}
			if head := w.head(); head.Rows() != 20 {
				t.Errorf("%v: %d rows", p, head.Rows())
			}
		}
	}
}

// A cleanup has been there between the version read and the newest: what it
// took away may have been a conflict.
func TestCommitOverGap(t *testing.T) {
	for _, n := range []Naming{NamingV1, NamingV2} {
		for _, drop := range [][]uint64{{2}, {3}, {1, 2}, {1, 2, 3}} {
			for _, mine := range []string{"reserve", "rewrite"} {
				w := newWorld(t, n, 2)
				base := w.head()
				txn := reserve(1)
				if mine == "rewrite" {
					txn = rewriteOf(base, 0, 0, 1)
				}
				w.append(1)
				w.append(1)
				w.append(1)
				w.drop(drop...)
				before := w.versions()
				_, err := committer(nil).Commit(t.Context(), base, txn)
				if !errors.Is(err, ErrConflict) {
					t.Errorf("%s, %v dropped, %s: error %v", n, drop, mine, err)
				}
				if !slices.Equal(w.versions(), before) {
					t.Errorf("versions %v", w.versions())
				}
			}
		}
	}
	// It goes between listing and reading.
	w := newWorld(t, NamingV2, 1)
	s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.Open && c.Phase == faultstore.Before && c.Name == w.n.ManifestName(2) {
			w.drop(2)
		}
		return faultstore.Pass
	})
	base := open(t, s)
	w.append(1)
	w.append(1)
	if _, err := committer(nil).Commit(t.Context(), base, reserve(1)); !errors.Is(err, ErrConflict) {
		t.Errorf("error %v", err)
	}
}

// The table was dropped meanwhile, and perhaps another one has its place: the
// newest version of that one must stay the newest.
func TestCommitToAnotherTable(t *testing.T) {
	for _, n := range []Naming{NamingV1, NamingV2} {
		for made := range 5 {
			w := newWorld(t, n, 2)
			w.append(1)
			w.reserve(1)
			base := w.head()
			w.drop(w.versions()...)
			if made > 0 {
				publishManifest(t, w.s, n, &manifestFile{manifest: tinyManifest(1)})
				for range made - 1 {
					w.append(1)
				}
			}
			before := w.versions()
			for _, txn := range []*pb.Transaction{rewriteOf(base, 3, 0, 1), reserve(1)} {
				if _, err := committer(nil).Commit(t.Context(), base, txn); !errors.Is(err, ErrConflict) {
					t.Errorf("%s, %d versions of another table, %s: error %v", n, made, kindOf(txn), err)
				}
			}
			if !slices.Equal(w.versions(), before) {
				t.Errorf("%s: versions %v, were %v", n, w.versions(), before)
			}
		}
	}
}

// What others have made meanwhile can't be understood, so nothing goes on top of it.
func TestCommitOnWhatIsNotUnderstood(t *testing.T) {
	tests := []struct {
		name string
		make func(w *world)
		want error
	}{
		{"unknown writer flag", func(w *world) {
			w.put(reserve(1), func(m *pb.Manifest) { m.WriterFeatureFlags = 4096 })
		}, ErrRefused},
		{"unknown reader flag", func(w *world) {
			m := proto.CloneOf(w.head().Manifest())
			m.Version, m.ReaderFeatureFlags = 2, 4096
			publishManifest(w.tb, w.s, w.n, &manifestFile{manifest: m})
		}, ErrRefused},
		{"no manifest at all", func(w *world) { write(w.tb, w.s, w.n.ManifestName(2), "hello") }, ErrCorrupt},
		{"no bytes", func(w *world) { write(w.tb, w.s, w.n.ManifestName(2), "") }, ErrCorrupt},
		{"no transaction", func(w *world) {
			m := proto.CloneOf(w.head().Manifest())
			m.Version = 2
			publishManifest(w.tb, w.s, w.n, &manifestFile{manifest: m})
		}, ErrConflict},
		{"a transaction whose file is gone", func(w *world) {
			m := proto.CloneOf(w.head().Manifest())
			m.Version, m.TransactionFile = 2, "1-u.txn"
			publishManifest(w.tb, w.s, w.n, &manifestFile{manifest: m})
		}, ErrConflict},
		{"a transaction that can't be read", func(w *world) {
			m := proto.CloneOf(w.head().Manifest())
			m.Version, m.TransactionFile = 2, "1-u.txn"
			publishManifest(w.tb, w.s, w.n, &manifestFile{manifest: m})
			write(w.tb, w.s, "_transactions/1-u.txn", "\xff\xff\xff")
		}, ErrConflict},
	}
	for _, tt := range tests {
		for _, raced := range []bool{false, true} {
			w := newWorld(t, NamingV2, 1)
			base := w.head()
			s := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
				if raced && creates(faultstore.Before)(c) && len(names(t, w.s, VersionsDir)) == 1 {
					tt.make(w)
				}
				return faultstore.Pass
			})
			base = &Table{store: s, ref: base.ref, naming: base.naming, file: base.file}
			if !raced {
				tt.make(w)
			}
			_, err := committer(nil).Commit(t.Context(), base, reserve(1))
			if !errors.Is(err, tt.want) || errors.Is(err, objects.ErrUnknown) {
				t.Errorf("%s (raced %t): error %v", tt.name, raced, err)
			}
			if n := len(names(t, w.s, VersionsDir)); n != 2 {
				t.Errorf("%s (raced %t): %d manifests", tt.name, raced, n)
			}
		}
	}
	// A transaction that only its file holds is as good as an inline one.
	w := newWorld(t, NamingV2, 1)
	base := w.head()
	m := proto.CloneOf(base.Manifest())
	m.Version, m.TransactionFile = 2, "1-u.txn"
	publishManifest(t, w.s, w.n, &manifestFile{manifest: m})
	raw, err := proto.Marshal(reserve(0))
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.s, "_transactions/1-u.txn", string(raw))
	if got, err := committer(nil).Commit(t.Context(), base, reserve(1)); err != nil || got.Version() != 3 {
		t.Errorf("version %v, error %v", got, err)
	}
}

// staleStore lists a directory as it was before the newest manifest came, a
// number of times (#69).
type staleStore struct {
	objects.Store
	hidden string
	mu     sync.Mutex
	left   int
}

func (s *staleStore) List(ctx context.Context, dir, from string, limit int) ([]objects.Entry, error) {
	page, err := s.Store.List(ctx, dir, from, limit)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return page, err
	}
	s.left--
	return slices.DeleteFunc(page, func(e objects.Entry) bool { return dir+"/"+e.Name == s.hidden }), err
}

func TestCommitWithStaleListing(t *testing.T) {
	for _, stale := range []int{1, 2, 5, 1000} {
		w := newWorld(t, NamingV2, 1)
		base := w.head()
		w.append(1)
		s := &staleStore{Store: w.s, hidden: w.n.ManifestName(2), left: stale}
		base = &Table{store: s, ref: base.ref, naming: base.naming, file: base.file}
		waits := 0
		got, err := committer(&waits).Commit(t.Context(), base, reserve(1))
		if stale == 1000 {
			if !errors.Is(err, ErrContended) || waits != 20 {
				t.Errorf("stale for ever: error %v after %d waits", err, waits)
			}
			continue
		}
		if err != nil || got.Version() != 3 || ids(got) != "[0 1]" {
			t.Errorf("stale %d times: version %v, error %v", stale, got, err)
		}
	}
}

// Twenty writers at once: each gets its ids, all different, one version each.
func TestConcurrentCommits(t *testing.T) {
	for _, n := range []Naming{NamingV1, NamingV2} {
		w := newWorld(t, n, 3)
		base := w.head()
		const writers = 20
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken := make(map[uint64]int)
		for i := range writers {
			wg.Go(func() {
				txn := reserve(1 + i%3)
				got, err := committer(nil).Commit(t.Context(), base, txn)
				if err != nil {
					t.Errorf("%s, writer %d: %v", n, i, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				top, _ := got.MaxFragmentID()
				for id := top - uint64(i%3); id <= top; id++ {
					taken[id]++
				}
			})
		}
		wg.Wait()
		want := 0
		for i := range writers {
			want += 1 + i%3
		}
		for id, times := range taken {
			if times != 1 || id < 3 {
				t.Errorf("%s: id %d was given out %d times", n, id, times)
			}
		}
		if len(taken) != want || len(w.versions()) != writers+1 {
			t.Errorf("%s: %d ids, want %d; %d versions", n, len(taken), want, len(w.versions()))
		}
		if top, _ := w.head().MaxFragmentID(); top != uint64(2+want) {
			t.Errorf("%s: highest id %d", n, top)
		}
		if txns := names(t, w.s, TransactionsDir); len(txns) != writers {
			t.Errorf("%s: %d transaction files", n, len(txns))
		}
	}
}

// Of many rewrites of the same fragments one is committed.
func TestConcurrentRewrites(t *testing.T) {
	w := newWorld(t, NamingV2, 4)
	w.reserve(8)
	base := w.head()
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 8 {
		wg.Go(func() {
			_, err := committer(nil).Commit(t.Context(), base, rewriteOf(base, uint64(4+i), 1, 2))
			if err != nil && !errors.Is(err, ErrConflict) {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				won++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if head := w.head(); won != 1 || head.Version() != 3 || head.Rows() != 40 {
		t.Errorf("%d were committed; version %d with %d rows", won, head.Version(), head.Rows())
	}
}
