package block

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// LevelGrain is where parts of levels begin: multiples of it. Blocks of bit-packed values don't cross them.
const LevelGrain = 4 * bitpack.Block

// Levels reads parts of a page's levels that lie in one buffer, without decoding what is before them. It is safe for
// concurrent use once loaded.
type Levels struct {
	n    int
	size uint64
	form levelForm
	bits int // kept of each, if packed

	// Once loaded, runs: where the values lie, and where each grain begins.
	values, lengths uint64
	grains          []runsGrain
	// Once loaded, others: all of them.
	w   Whole
	all []uint16
}

type levelForm int

const (
	plainLevels  levelForm = iota
	packedLevels           // blocks of one width
	runLevels
	otherLevels // no part can be read without the others
)

// runsGrain is a place in runs: so many runs lie before, and so many levels of the next one.
type runsGrain struct {
	run  uint64
	used uint8
}

// NewLevels makes the reader of n levels in a buffer of size bytes; w is nil where they are plain. What cannot be is noticed here or where it is read.
func NewLevels(w Whole, n, size uint64) (*Levels, error) {
	l := &Levels{size: size, w: w}
	if n > maxValues {
		return nil, corrupt("%d levels", n)
	}
	l.n = int(n)
	own, ok := w.(*whole)
	if w == nil {
		if size%2 != 0 || size != 2*n {
			return nil, corrupt("%d levels in %d bytes", n, size)
		}
		return l, nil
	}
	l.form = otherLevels
	if !ok {
		return l, nil
	}
	if s := own.like; s.Kind != Fixed || s.Bits != 16 {
		return nil, named(own.enc, corrupt("levels of %s", s.shape()))
	}
	switch d := own.decoder.(type) {
	case flat:
		if size != 2*n {
			return nil, named(own.enc, corrupt("%d bytes for %d levels", size, n))
		}
		l.form = plainLevels
	case outOfLine:
		if d.width == 0 {
			break // any number of them takes no bytes
		}
		if uint64(bitpack.Size(d.width))*(n/bitpack.Block) > size {
			return nil, named(own.enc, corrupt("%d bytes for %d levels", size, n))
		}
		l.form, l.bits = packedLevels, d.width
	case wholeRuns:
		if n > 255*size {
			return nil, named(own.enc, corrupt("%d bytes for %d levels", size, n))
		}
		l.form = runLevels
	}
	return l, nil
}

// N is how many there are.
func (l *Levels) N() int { return l.n }

// Held is how many bytes it takes, once loaded.
func (l *Levels) Held() int64 { return 128 + 16*int64(cap(l.grains)) + 2*int64(cap(l.all)) }

// Load reads what is needed to find parts: nothing but for runs, and all where only all can be decoded. get gives a part of the
// buffer; limit bounds the memory of what is kept.
func (l *Levels) Load(get func(datafile.Span) ([]byte, error), limit int64) error {
	switch l.form {
	case runLevels:
		return l.loadRuns(get)
	case otherLevels:
		if int64(l.n) > limit/2 {
			return fmt.Errorf("%w: %d levels", column.ErrLimit, l.n)
		}
		b, err := get(datafile.Span{Size: l.size})
		if err != nil {
			return err
		}
		l.all, err = AppendLevels(nil, l.w, b, l.n, 2*int64(l.n)+64)
		if err == nil && len(l.all) != l.n {
			err = corrupt("%d levels, %d expected", len(l.all), l.n)
		}
		return err
	}
	return nil
}

// loadBytes is how much is looked at at a time.
const loadBytes = 1 << 20

// loadRuns finds the grains.
func (l *Levels) loadRuns(get func(datafile.Span) ([]byte, error)) error {
	if l.size < 8 {
		return corrupt("%d bytes of runs", l.size)
	}
	head, err := get(datafile.Span{Size: 8})
	if err != nil {
		return err
	}
	values, room := binary.LittleEndian.Uint64(head), l.size-8
	if values > room || values != 2*(room-values) {
		return corrupt("%d bytes of values in %d bytes of runs", values, room)
	}
	runs := room - values
	l.values, l.lengths = 8, 8+values
	l.grains = make([]runsGrain, 0, l.n/LevelGrain+2)
	at := 0
	for run := uint64(0); run < runs; {
		b, err := get(datafile.Span{Pos: l.lengths + run, Size: min(runs-run, loadBytes)})
		if err != nil {
			return err
		}
		for _, length := range b {
			if at >= l.n {
				return corrupt("%d runs, but %d values end before run %d", runs, l.n, run)
			}
			end := at + int(length)
			if next := len(l.grains) * LevelGrain; next < min(end, l.n) {
				l.grains = append(l.grains, runsGrain{run, uint8(next - at)})
			}
			at = end
			run++
		}
	}
	if at < l.n {
		return corrupt("%d runs of %d values in all, should be %d", runs, at, l.n)
	}
	l.grains = append(l.grains, runsGrain{run: runs})
	return nil
}

// Spans are the parts of the buffer in which levels [from, to) lie. Both are multiples of LevelGrain, or to is N.
func (l *Levels) Spans(from, to int) []datafile.Span {
	if from >= to {
		return nil
	}
	switch l.form {
	case plainLevels:
		return []datafile.Span{{Pos: 2 * uint64(from), Size: 2 * uint64(to-from)}}
	case packedLevels:
		pos, end := l.packed(from), l.size
		if to < l.n {
			end = l.packed(to)
		}
		return []datafile.Span{{Pos: pos, Size: end - pos}}
	case runLevels:
		a, b := l.grains[from/LevelGrain], l.grains[len(l.grains)-1]
		if to < l.n {
			b = l.grains[to/LevelGrain]
		}
		end := b.run
		if b.used > 0 {
			end++
		}
		return []datafile.Span{{Pos: l.values + 2*a.run, Size: 2 * (end - a.run)}, {Pos: l.lengths + a.run, Size: end - a.run}}
	}
	return nil
}

func (l *Levels) packed(n int) uint64 {
	return uint64(n/bitpack.Block) * uint64(bitpack.Size(l.bits))
}

// Append appends levels [from, to) to dst. parts are those of Spans.
func (l *Levels) Append(dst []uint16, parts [][]byte, from, to int) ([]uint16, error) {
	if from >= to {
		return dst, nil
	}
	if l.form == otherLevels {
		return append(dst, l.all[from:to]...), nil
	}
	have := len(dst)
	if n := have + to - from; n <= cap(dst) {
		dst = dst[:n]
	} else {
		dst = append(dst, make([]uint16, to-from)...)
	}
	out := arrow.Uint16Traits.CastToBytes(dst[have:])
	switch l.form {
	case plainLevels:
		copy(out, parts[0])
	case packedLevels:
		if _, err := bitpack.UnpackFixed(out[:0], parts[0], 16, l.bits, to-from); err != nil {
			return dst[:have], classed(err)
		}
	case runLevels:
		used := int(l.grains[from/LevelGrain].used)
		for i, length := range parts[1] {
			n := min(2*max(int(length)-used, 0), len(out))
			fill(out[:n], parts[0][2*i:], 2)
			out, used = out[n:], 0
		}
		if len(out) > 0 {
			return dst[:have], corrupt("runs of %d values too few", len(out)/2)
		}
	}
	return dst, nil
}
