package table

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// RowIDs are the stable row ids of a fragment. They stay as they are stored, and are
// safe for concurrent use.
type RowIDs struct {
	segments []idSegment
	ends     []uint64 // rows up to the end of each segment
}

// idSegment gives the ids of rows [from, to) of itself.
type idSegment interface {
	append(dst []uint64, from, to uint64) []uint64
}

// RowIDsOf decodes the row ids of a fragment of that many rows.
func RowIDsOf(f *pb.DataFragment, rows uint64) (*RowIDs, error) {
	l, err := LineageOf(f)
	if err != nil {
		return nil, err
	}
	if l.RowIDs == nil {
		return nil, fmt.Errorf("%w: fragment %d has no row ids", ErrCorrupt, f.GetId())
	}
	ids, err := decodeRowIDs(l.RowIDs, rows)
	if err != nil {
		return nil, fmt.Errorf("row ids of fragment %d: %w", f.GetId(), err)
	}
	return ids, nil
}

func decodeRowIDs(raw []byte, rows uint64) (*RowIDs, error) {
	// The same checks that a concatenation makes: kinds, lengths, their sum.
	var seq pb.RowIdSequence
	if err := appendRowIDs(&seq, raw, rows); err != nil {
		return nil, err
	}
	r := new(RowIDs)
	var end uint64
	for _, s := range seq.GetSegments() {
		seg, err := newIDSegment(s)
		if err != nil {
			return nil, err
		}
		n, err := segmentLen(s)
		if err != nil {
			return nil, err
		}
		end += n
		r.segments, r.ends = append(r.segments, seg), append(r.ends, end)
	}
	return r, nil
}

// Append appends the ids of rows [from, to) of the fragment.
func (r *RowIDs) Append(dst []uint64, from, to uint64) []uint64 {
	i := sort.Search(len(r.ends), func(i int) bool { return r.ends[i] > from })
	for ; i < len(r.ends) && from < to; i++ {
		var start uint64
		if i > 0 {
			start = r.ends[i-1]
		}
		upTo := min(to, r.ends[i])
		dst = r.segments[i].append(dst, from-start, upTo-start)
		from = upTo
	}
	return dst
}

// newIDSegment makes a segment of a message that segmentLen has accepted.
func newIDSegment(s *pb.U64Segment) (idSegment, error) {
	switch g := s.GetSegment().(type) {
	case *pb.U64Segment_Range_:
		return rangeIDs(g.Range.GetStart()), nil
	case *pb.U64Segment_RangeWithHoles_:
		return newHoleIDs(g.RangeWithHoles)
	case *pb.U64Segment_RangeWithBitmap_:
		return newBitmapIDs(g.RangeWithBitmap), nil
	case *pb.U64Segment_SortedArray:
		return newArrayIDs(g.SortedArray), nil
	case *pb.U64Segment_Array:
		return newArrayIDs(g.Array), nil
	}
	return nil, fmt.Errorf("%w: row id segment of an unknown kind", ErrRefused)
}

type rangeIDs uint64

func (start rangeIDs) append(dst []uint64, from, to uint64) []uint64 {
	for i := from; i < to; i++ {
		dst = append(dst, uint64(start)+i)
	}
	return dst
}

// holeIDs is a range without some of its values.
type holeIDs struct {
	start uint64
	holes []uint64 // ascending
}

func newHoleIDs(g *pb.U64Segment_RangeWithHoles) (idSegment, error) {
	a := newArrayIDs(g.GetHoles())
	h := &holeIDs{start: g.GetStart(), holes: a.append(nil, 0, a.len())}
	for i, v := range h.holes {
		if v < g.GetStart() || v >= g.GetEnd() || i > 0 && v <= h.holes[i-1] {
			return nil, fmt.Errorf("%w: hole %d in a range from %d to %d", ErrCorrupt, v, g.GetStart(), g.GetEnd())
		}
	}
	return h, nil
}

func (h *holeIDs) append(dst []uint64, from, to uint64) []uint64 {
	// A hole stands before value i when at most i values do.
	n := sort.Search(len(h.holes), func(n int) bool { return h.holes[n]-h.start-uint64(n) > from })
	for i := from; i < to; i++ {
		for n < len(h.holes) && h.holes[n]-h.start-uint64(n) <= i {
			n++
		}
		dst = append(dst, h.start+i+uint64(n))
	}
	return dst
}

// bitmapBlock is how many bytes of a bitmap are counted together.
const bitmapBlock = 64

// bitmapIDs is a range of which a bitmap tells the values that are there.
type bitmapIDs struct {
	start  uint64
	bitmap []byte
	before []uint64 // values before each block
}

func newBitmapIDs(g *pb.U64Segment_RangeWithBitmap) *bitmapIDs {
	n := g.GetEnd() - g.GetStart()
	b := &bitmapIDs{start: g.GetStart(), bitmap: g.GetBitmap()[:(n+7)/8]}
	if rest := n % 8; rest != 0 { // bits past the end don't count
		b.bitmap = append([]byte(nil), b.bitmap...)
		b.bitmap[len(b.bitmap)-1] &= 1<<rest - 1
	}
	var c uint64
	for i, x := range b.bitmap {
		if i%bitmapBlock == 0 {
			b.before = append(b.before, c)
		}
		c += uint64(bits.OnesCount8(x))
	}
	return b
}

func (b *bitmapIDs) append(dst []uint64, from, to uint64) []uint64 {
	if from >= to {
		return dst
	}
	block := sort.Search(len(b.before), func(i int) bool { return b.before[i] > from }) - 1
	at := b.before[block]
	for i := block * bitmapBlock; i < len(b.bitmap) && at < to; i++ {
		for x := b.bitmap[i]; x != 0 && at < to; x &= x - 1 {
			if at >= from {
				dst = append(dst, b.start+uint64(i)*8+uint64(bits.TrailingZeros8(x)))
			}
			at++
		}
	}
	return dst
}

// arrayIDs is an array of integers, each the distance from a base.
type arrayIDs struct {
	base  uint64
	width int
	b     []byte
}

func newArrayIDs(a *pb.EncodedU64Array) arrayIDs {
	switch g := a.GetArray().(type) {
	case *pb.EncodedU64Array_U16Array:
		return arrayIDs{g.U16Array.GetBase(), 2, g.U16Array.GetOffsets()}
	case *pb.EncodedU64Array_U32Array:
		return arrayIDs{g.U32Array.GetBase(), 4, g.U32Array.GetOffsets()}
	case *pb.EncodedU64Array_U64Array:
		return arrayIDs{0, 8, g.U64Array.GetValues()}
	}
	return arrayIDs{width: 1}
}

func (a arrayIDs) len() uint64 { return uint64(len(a.b) / a.width) }

func (a arrayIDs) append(dst []uint64, from, to uint64) []uint64 {
	for i := int(from); i < int(to); i++ {
		var v uint64
		switch a.width {
		case 2:
			v = uint64(binary.LittleEndian.Uint16(a.b[i*2:]))
		case 4:
			v = uint64(binary.LittleEndian.Uint32(a.b[i*4:]))
		case 8:
			v = binary.LittleEndian.Uint64(a.b[i*8:])
		}
		dst = append(dst, a.base+v)
	}
	return dst
}

// RowVersions tells in which version of the table each row of a fragment was
// made or updated.
type RowVersions struct {
	runs versionRuns
	ends []uint64
}

// RowVersionsOf decodes when the rows of a fragment were made and last updated. Rows
// of which nothing is said were made by version 1, and updated when they were made.
func RowVersionsOf(f *pb.DataFragment, rows uint64) (created, updated *RowVersions, err error) {
	l, err := LineageOf(f)
	if err != nil {
		return nil, nil, err
	}
	c, err := decodeRuns(l.CreatedAt, rows)
	if err != nil {
		return nil, nil, fmt.Errorf("created versions of fragment %d: %w", f.GetId(), err)
	}
	if c == nil {
		c = versionRuns{{rows: rows, version: 1}}
	}
	u, err := decodeRuns(l.LastUpdated, rows)
	if err != nil {
		return nil, nil, fmt.Errorf("updated versions of fragment %d: %w", f.GetId(), err)
	}
	if u == nil {
		u = c
	}
	return newRowVersions(c), newRowVersions(u), nil
}

func newRowVersions(runs versionRuns) *RowVersions {
	v := &RowVersions{runs: runs}
	var end uint64
	for _, r := range runs {
		end += r.rows
		v.ends = append(v.ends, end)
	}
	return v
}

// Append appends the versions of rows [from, to) of the fragment.
func (v *RowVersions) Append(dst []uint64, from, to uint64) []uint64 {
	i := sort.Search(len(v.ends), func(i int) bool { return v.ends[i] > from })
	for ; i < len(v.ends); i++ {
		for ; from < min(to, v.ends[i]); from++ {
			dst = append(dst, v.runs[i].version)
		}
	}
	return dst
}
