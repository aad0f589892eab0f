package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// pins is what Pin is given to, and what it keeps.
type pins struct {
	mu sync.Mutex
	// pinned are all versions, in order; released how many of them are free again.
	pinned   []uint64
	released int
	// held are the files of the version that is pinned, nil when none is; own the run's output.
	held, own map[string]bool
	wrong     []string
}

func (p *pins) pin(_ context.Context, t *table.Table) (func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		p.wrong = append(p.wrong, "two versions are pinned at once")
	}
	p.pinned = append(p.pinned, t.Version())
	p.held = make(map[string]bool)
	for _, f := range t.Fragments() {
		for _, d := range f.GetFiles() {
			p.held[table.DataName(d)] = true
		}
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.held == nil {
			p.wrong = append(p.wrong, "released twice")
		}
		p.held = nil
		p.released++
	}, nil
}

// watch is a hook that checks calls: nothing is written while nothing is pinned, but for what
// ends a run; and what is read while something is pinned belongs to that.
func (p *pins) watch(c faultstore.Call) faultstore.Action {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Phase != faultstore.Before {
		return faultstore.Pass
	}
	data := strings.HasPrefix(c.Name, table.DataDir+"/")
	switch c.Op {
	case faultstore.Create, faultstore.Publish, faultstore.Write, faultstore.Copy, faultstore.Finish:
		if p.held == nil {
			p.wrong = append(p.wrong, fmt.Sprintf("%s while nothing is pinned", c))
		}
		if data {
			if p.own == nil {
				p.own = make(map[string]bool)
			}
			p.own[c.Name] = true
		}
	case faultstore.Open, faultstore.Read:
		if data && p.held != nil && !p.held[c.Name] && !p.own[c.Name] {
			p.wrong = append(p.wrong, fmt.Sprintf("%s, which the pinned version does not name", c))
		}
	}
	return faultstore.Pass
}

// check: all went well, and what was pinned is free again.
func (p *pins) check(t *testing.T, what string) {
	t.Helper()
	for _, w := range p.wrong {
		t.Errorf("%s: %s", what, w)
	}
	if p.held != nil || p.released != len(p.pinned) {
		t.Errorf("%s: %d versions were pinned, %d released", what, len(p.pinned), p.released)
	}
}

// Versions are pinned before anything is written and while anything is read, one for each pass.
func TestPin(t *testing.T) {
	for name, base := range map[string]*dirstore.Store{
		"one task":      copyAt(t, "branched", 3),
		"several tasks": copyAt(t, "many_appends", 5),
		"stable ids":    copyAt(t, "stable_ids", 11),
		"V1 names":      copyAt(t, "v1_names", 3),
	} {
		for _, target := range []int64{20, 1000} {
			s := again(t, base)
			before := open(t, s).Version()
			p := &pins{}
			res, err := Run(t.Context(), faultstore.New(s, p.watch), Options{Policy: Policy{TargetRows: target}, Pin: p.pin})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			p.check(t, name)
			if planned := len(res.Plan.Tasks) > 0; planned != (len(p.pinned) > 0) || planned && p.pinned[0] != before {
				t.Errorf("%s: pinned %v of %d tasks, version %d", name, p.pinned, len(res.Plan.Tasks), before)
			}
		}
	}
}

// Where nothing is going to be read for writing, nothing is pinned.
func TestPinNothing(t *testing.T) {
	p := &pins{}
	s := copyAt(t, "branched", 3)
	if res, err := Run(t.Context(), s, Options{DryRun: true, Pin: p.pin}); err != nil || len(res.Plan.Tasks) == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	// Another run is at work on all of it.
	head := open(t, s)
	rec := journal.New(journal.Rewrite, head.Time())
	other, end := journal.Begin()
	defer end()
	rec.Holder.Run = other
	for _, f := range head.Fragments() {
		rec.Fragments = append(rec.Fragments, f.GetId())
	}
	if err := rec.Write(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if res, err := Run(t.Context(), s, Options{Pin: p.pin}); err != nil || res.Preempted == "" {
		t.Errorf("%+v, %v", res, err)
	}
	if err := rec.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if len(p.pinned) > 0 {
		t.Errorf("pinned %v", p.pinned)
	}
	// It is done, and stays so.
	if _, err := Run(t.Context(), s, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), s, Options{Pin: p.pin}); err != nil || len(p.pinned) > 0 {
		t.Errorf("pinned %v, %v", p.pinned, err)
	}
}

// Whatever a run ends with, and whenever: what it pinned is free again.
func TestPinReleased(t *testing.T) {
	boom := errors.New("boom")
	base := copyAt(t, "branched", 3)
	for what, action := range map[string]faultstore.Action{"fail": faultstore.Fail(boom), "lose": faultstore.Lose(), "die": faultstore.Die(), "cancel": faultstore.Pass} {
		pinned := 0
		for at := range faultstore.Every(step()) {
			s := again(t, base)
			p := &pins{}
			ctx, cancel := context.WithCancel(t.Context())
			hook := func(c faultstore.Call) faultstore.Action {
				if at.Match(c) {
					if what == "cancel" {
						cancel()
					}
					return action
				}
				return faultstore.Pass
			}
			_, _ = Run(ctx, faultstore.New(s, faultstore.Chain(p.watch, hook)), Options{Policy: policy, Pin: p.pin})
			cancel()
			p.check(t, fmt.Sprint(what, " ", at.N, at.Phase))
			pinned += len(p.pinned)
			checkVersions(t, s)
			if t.Failed() {
				return
			}
		}
		if pinned == 0 {
			t.Errorf("%s: nothing was ever pinned", what)
		}
	}
}

// A version that has gone when it is to be pinned: the newest is planned on instead. For ever
// is for ten times.
func TestPinGone(t *testing.T) {
	s := copyAt(t, "branched", 3)
	rows := open(t, s).Rows()
	p := &pins{}
	var tried []uint64
	pin := func(ctx context.Context, v *table.Table) (func(), error) {
		tried = append(tried, v.Version())
		if len(tried) < 4 {
			writer{t, s, nil}.config()
			return nil, fmt.Errorf("tagging: %w", objects.ErrNotFound)
		}
		return p.pin(ctx, v)
	}
	res, err := Run(t.Context(), faultstore.New(s, p.watch), Options{Policy: policy, Pin: pin})
	if err != nil || res.FragmentsRemoved == 0 || !slices.Equal(tried, []uint64{3, 4, 5, 6}) {
		t.Errorf("tried %v: %+v, %v", tried, res, err)
	}
	p.check(t, "gone")
	checkClean(t, s, rows)

	s = copyAt(t, "branched", 3)
	f := faultstore.New(s, nil)
	tried = nil
	_, err = Run(t.Context(), f, Options{Policy: policy, Pin: func(_ context.Context, v *table.Table) (func(), error) {
		tried = append(tried, v.Version())
		return nil, objects.ErrNotFound
	}})
	if !errors.Is(err, table.ErrContended) || len(tried) != maxPasses {
		t.Errorf("never there: %v after %d times", err, len(tried))
	}
	if n := f.Count(faultstore.Create, faultstore.Publish, faultstore.Delete, faultstore.Replace); n > 0 {
		t.Errorf("never there: %d writes", n)
	}
}

// Any other error ends the run before it has written anything.
func TestPinFails(t *testing.T) {
	boom := errors.New("boom")
	f := faultstore.New(copyAt(t, "branched", 3), nil)
	res, err := Run(t.Context(), f, Options{Policy: policy, Pin: func(context.Context, *table.Table) (func(), error) { return nil, boom }})
	if !errors.Is(err, boom) || res.Changed || f.Count(faultstore.Create, faultstore.Publish, faultstore.Delete, faultstore.Replace) > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Run(ctx, f, Options{Policy: policy, Pin: func(context.Context, *table.Table) (func(), error) {
		cancel()
		return nil, errors.Join(objects.ErrNotFound, ctx.Err())
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Fragments that get other files after the version was pinned, at any moment: none of
// those is read before the version that names it is pinned.
func TestPinWhileFilesChange(t *testing.T) {
	base := copyAt(t, "branched", 3)
	replanned := 0
	for at, n := (*faultstore.Point)(nil), 0; at == nil || at.Reached(); n++ {
		at = &faultstore.Point{N: n, Phase: faultstore.Before}
		s := again(t, base)
		rows := open(t, s).Rows()
		p := &pins{}
		hook := func(c faultstore.Call) faultstore.Action {
			if at.Match(c) {
				writer{t, s, nil}.rewriteFile()
			}
			return faultstore.Pass
		}
		if _, err := Run(t.Context(), faultstore.New(s, faultstore.Chain(p.watch, hook)), Options{Policy: policy, Pin: p.pin}); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		p.check(t, fmt.Sprint("call ", n))
		if len(p.pinned) > 1 {
			replanned++
		}
		if got := open(t, s); got.Rows() != rows || len(got.Fragments()) != 1 {
			t.Errorf("call %d: %d rows in %d fragments", n, got.Rows(), len(got.Fragments()))
		}
		checkVersions(t, s)
		if t.Failed() {
			return
		}
	}
	if replanned == 0 {
		t.Error("no run ever met another file")
	}
}

// rewriteFile gives the last fragment another data file of the same rows, as a column that is
// computed anew does.
func (w writer) rewriteFile() {
	op := &pb.Transaction_Merge{}
	w.put(&pb.Transaction{Operation: &pb.Transaction_Merge_{Merge: op}}, func(m *pb.Manifest) {
		f := proto.CloneOf(m.Fragments[len(m.Fragments)-1])
		b, err := readAll(w.tb, w.s, table.DataName(f.Files[0]))
		if err != nil {
			w.tb.Fatal(err)
		}
		f.Files[0].Path = newUUID() + ".lance"
		if err := w.s.Publish(w.tb.Context(), table.DataName(f.Files[0]), b); err != nil {
			w.tb.Fatal(err)
		}
		m.Fragments[len(m.Fragments)-1] = f
		op.Fragments = m.Fragments
		op.Schema = m.Fields
	})
}
