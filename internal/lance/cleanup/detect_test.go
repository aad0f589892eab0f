package cleanup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// detect is a Look for one answer.
func detect(ctx context.Context, s objects.Store, p Policy, now time.Time) (Detection, error) {
	f, err := Look(ctx, s, Looking{MinVersions: p.MinVersions, Retain: p.Retain, Now: now})
	if err != nil {
		return Detection{}, err
	}
	return f.At(p, now), nil
}

// A young table of many versions costs a few small calls, and nothing is due (#76).
func TestDetectIsCheap(t *testing.T) {
	for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
		w := newWorld(t, n)
		w.m.Fields = nil
		w.at = start.Add(-time.Hour)
		for v := range uint64(500) {
			w.m.Version = v + 1
			w.m.Timestamp = timestamppb.New(w.at)
			w.publish(n.ManifestName(v+1), w.m)
		}
		for i := range 5 {
			w.tag(fmt.Sprint("t", i), uint64(1+i))
		}
		f := faultstore.New(w.s, nil)
		d, err := detect(t.Context(), f, Policy{Retain: 14 * 24 * time.Hour, MinVersions: 1}, start)
		if err != nil || d.Due || d.Versions != 500 || d.Newest != 500 {
			t.Errorf("%+v, error %v", d, err)
		}
		manifests := 0
		for _, c := range f.Calls() {
			if c.Op == faultstore.Open && strings.HasPrefix(c.Name, table.VersionsDir) {
				manifests++
			}
		}
		if lists := f.Count(faultstore.List); lists > 4 || manifests > 2 {
			t.Errorf("%d listings, %d manifests read", lists, manifests)
		}
		// And where the number alone decides, none at all.
		f = faultstore.New(w.s, nil)
		if d, err := detect(t.Context(), f, Policy{MinVersions: 500}, start); err != nil || d.Due {
			t.Errorf("%+v, error %v", d, err)
		}
		if lists, opens := f.Count(faultstore.List), f.Count(faultstore.Open); lists > 2 || opens > 0 {
			t.Errorf("%d listings, %d objects read", lists, opens)
		}
	}
}

// All old versions are held on to: no job (#64).
func TestDetectAllPinned(t *testing.T) {
	w := newWorld(t, table.NamingV2)
	w.append()
	w.append()
	w.tag("a", 1)
	w.branch("b")
	w.append()
	d, err := detect(t.Context(), w.s, everything, start)
	if err != nil || d.Due {
		t.Errorf("%+v, error %v", d, err)
	}
	says(t, d.Reason, "3 versions", "2")
}

func TestDetectRefuses(t *testing.T) {
	base := sample(t, table.NamingV2)
	for _, v := range []uint64{1, 9} {
		s := again(t, base.s)
		change(t, s, base.n.ManifestName(v), func(m *pb.Manifest) { m.WriterFeatureFlags |= 4096 })
		if d, err := detect(t.Context(), s, everything, start); !errors.Is(err, table.ErrRefused) {
			t.Errorf("version %d: %+v, error %v", v, d, err)
		}
		s = again(t, base.s)
		overwrite(t, s, base.n.ManifestName(v), func(b []byte) []byte { return b[:len(b)-1] })
		d, err := detect(t.Context(), s, everything, start)
		if !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("version %d: %+v, error %v", v, d, err)
			continue
		}
		says(t, err.Error(), base.n.ManifestName(v))
	}
	// One that vanished is passed over.
	s := again(t, base.s)
	f := faultstore.New(s, func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.Open && c.Phase == faultstore.Before && c.Name == base.n.ManifestName(1) {
			if err := s.Delete(t.Context(), c.Name); err != nil {
				t.Error(err)
			}
		}
		return faultstore.Pass
	})
	if d, err := detect(t.Context(), f, everything, start); err != nil || !d.Due {
		t.Errorf("%+v, error %v", d, err)
	}
}

// Tables of all histories, and any policy: what goes is what must go by a plain
// reading of the rules, and nothing that is needed.
func TestRandomTables(t *testing.T) {
	seeds := uint64(60)
	if full {
		seeds = 3000
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, []table.Naming{table.NamingV1, table.NamingV2}[seed%2])
		w.at = start.Add(-time.Duration(rng.IntN(40)) * time.Hour)
		w.append()
		pinned := make(map[uint64]bool)
		times := make(map[uint64]time.Time)
		note := func() { times[w.m.Version] = w.m.Timestamp.AsTime() }
		note()
		var branches []*world
		for i := range 3 + rng.IntN(15) {
			switch rng.IntN(9) {
			case 0, 1, 2:
				w.append()
			case 3:
				w.merge()
			case 4:
				w.delete()
			case 5:
				w.index()
			case 6:
				v := 1 + rng.Uint64N(w.m.Version)
				w.tag(fmt.Sprint("t", i), v)
				pinned[v] = true
			case 7:
				if len(branches) > 0 && rng.IntN(2) == 0 {
					b := branches[rng.IntN(len(branches))]
					branches = append(branches, b.branch(fmt.Sprint("x/", i)))
				} else {
					branches = append(branches, w.branch(fmt.Sprint("b", i)))
					pinned[w.m.Version] = true
				}
			case 8:
				w.detached()
			}
			note()
			for _, b := range branches {
				if rng.IntN(3) == 0 {
					b.append()
				}
				if rng.IntN(5) == 0 {
					b.merge()
				}
			}
		}
		for i := range rng.IntN(5) {
			w.stray(fmt.Sprintf("data/stray%d.lance", i), time.Duration(rng.IntN(14))*24*time.Hour)
		}
		p := Policy{Retain: time.Duration(rng.IntN(30)) * time.Hour, MinVersions: rng.IntN(6)}
		all := versions(t, w.s)
		var want []uint64
		for i, v := range all {
			newest := len(all)-i <= max(1, p.MinVersions)
			if newest || pinned[v] || !times[v].Before(start.Add(-p.Retain)) {
				want = append(want, v)
			}
		}
		before := files(t, w.s)
		d, err := detect(t.Context(), w.s, p, start)
		if err != nil {
			t.Fatal(err)
		}
		res := clean(t, w.s, p)
		if got := versions(t, w.s); !slices.Equal(got, want) {
			t.Errorf("left %v, want %v", got, want)
		}
		if d.Due != (len(want) < len(all)) {
			t.Errorf("detected %+v, and %v went", d, res.Removed)
		}
		named := everyVersion(t, w.s)
		after := files(t, w.s)
		for _, f := range before {
			young := false
			if strings.HasPrefix(f, "data/stray") {
				young = strings.Contains(fmt.Sprint(orphans(after, named)), f)
			}
			if slices.Contains(after, f) != (young || len(orphans([]string{f}, named)) == 0) {
				t.Errorf("%s is there %t", f, slices.Contains(after, f))
			}
		}
		checkIdle(t, w.s, p)
		if t.Failed() {
			t.Fatalf("seed %d, %+v", seed, p)
		}
	}
}
