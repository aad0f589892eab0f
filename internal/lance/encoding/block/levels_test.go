package block

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// formsOfLevels are levels in each form that a page may have them in, with their encoding.
func formsOfLevels(rng *rand.Rand, n, most, run int) ([]uint16, map[string][]byte, map[string]*pb.CompressiveEncoding) {
	levels := make([]uint16, 0, n+run)
	for len(levels) < n {
		l := uint16(rng.IntN(most + 1))
		for range 1 + rng.IntN(run) {
			levels = append(levels, l)
		}
	}
	levels = levels[:n]
	width := 1
	for 1<<width <= most {
		width++
	}
	packed := &LevelEncoder{width: width, Encoding: outOfLineEnc(levelBits, width)}
	runs := &LevelEncoder{Encoding: runsEnc(levelBits)}
	flat := &LevelEncoder{Encoding: flatEnc(levelBits)}
	bytes, encs := map[string][]byte{"plain": AppendPlain(nil, levels)}, map[string]*pb.CompressiveEncoding{"plain": nil}
	for name, e := range map[string]*LevelEncoder{"packed": packed, "runs": runs, "flat": flat} {
		bytes[name], encs[name] = e.Append(nil, levels), e.Encoding
	}
	inline := &LevelEncoder{width: width, inline: true, Encoding: inlineEnc(levelBits)}
	bytes["inline"], encs["inline"] = inline.Append(nil, levels), inline.Encoding
	return levels, bytes, encs
}

func levelsOf(t testing.TB, enc *pb.CompressiveEncoding, n, size int) (*Levels, error) {
	t.Helper()
	var w Whole
	if enc != nil {
		var err error
		if w, err = NewWhole(enc); err != nil {
			t.Fatal(err)
		}
	}
	return NewLevels(w, uint64(n), uint64(size))
}

// Any part of levels is read from the bytes that it says it needs.
func TestLevelsInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, n := range []int{1, 1023, 1024, LevelGrain, LevelGrain + 1, 3*LevelGrain + 100, 20 * LevelGrain, 50_001} {
		for _, run := range []int{1, 3, 700, 100_000} {
			want, bytes, encs := formsOfLevels(rng, n, 1+rng.IntN(9), run)
			for form, b := range bytes {
				get := func(s datafile.Span) ([]byte, error) { return b[s.Pos : s.Pos+s.Size], nil }
				l, err := levelsOf(t, encs[form], n, len(b))
				if err == nil {
					err = l.Load(get, unlimited)
				}
				if err != nil {
					t.Fatalf("%d levels, %s: %v", n, form, err)
				}
				if form != "inline" && l.Held() > int64(n)/100+256 {
					t.Errorf("%d levels, %s: %d bytes are kept", n, form, l.Held())
				}
				for range 20 {
					grains := (n + LevelGrain - 1) / LevelGrain
					from := rng.IntN(grains)
					to := min(from+1+rng.IntN(grains-from), grains) * LevelGrain
					from, to = from*LevelGrain, min(to, n)
					var parts [][]byte
					for _, s := range l.Spans(from, to) {
						p, _ := get(s)
						parts = append(parts, p)
					}
					got, err := l.Append([]uint16{9}, parts, from, to)
					if err != nil || !slices.Equal(got[1:], want[from:to]) {
						t.Fatalf("%s, levels %d to %d of %d: %v", form, from, to, n, err)
					}
				}
			}
		}
	}
}

// Levels that don't fit their buffer are told, at the latest when they are read.
func TestLevelsThatDoNotFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	n := 2*LevelGrain + 10
	_, bytes, encs := formsOfLevels(rng, n, 3, 5)
	for form, whole := range bytes {
		for name, c := range map[string]struct{ n, size int }{
			"a level more": {n + 1, len(whole)}, "a level less": {n - 1, len(whole)}, "far too many": {1 << 29, len(whole)},
			"a byte less": {n, len(whole) - 1}, "half the bytes": {n, len(whole) / 2}, "a few bytes": {n, 7}, "none": {n, 0},
		} {
			if form == "inline" && c.size == len(whole) && c.n < 1<<29 {
				continue // the last block is padded
			}
			if form == "runs" && name == "a level less" {
				continue // the last run may be longer
			}
			b := whole[:c.size]
			l, err := levelsOf(t, encs[form], c.n, c.size)
			get := func(s datafile.Span) ([]byte, error) { return b[s.Pos : s.Pos+s.Size], nil }
			if err == nil {
				err = l.Load(get, 1<<20)
			}
			if err == nil {
				var parts [][]byte
				for _, s := range l.Spans(0, c.n) {
					p, _ := get(s)
					parts = append(parts, p)
				}
				_, err = l.Append(nil, parts, 0, c.n)
			}
			if !errors.Is(err, column.ErrCorrupt) && !errors.Is(err, column.ErrLimit) {
				t.Errorf("%s, %s: %v", form, name, err)
			}
		}
	}
}
