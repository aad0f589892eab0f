package table

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// LiveLineage is the lineage of the rows of fragments put one behind the other, without the deleted ones: for each
// fragment its deletion vector, nil for none.
func LiveLineage(fs []*pb.DataFragment, deleted []*roaring.Bitmap) (Lineage, error) {
	kept := make([]*pb.DataFragment, len(fs))
	for i, f := range fs {
		if deleted[i] == nil || deleted[i].IsEmpty() {
			kept[i] = f
			continue
		}
		var err error
		if kept[i], err = withoutRows(f, deleted[i]); err != nil {
			return Lineage{}, err
		}
	}
	return ConcatLineage(kept)
}

// withoutRows is a fragment of nothing but the lineage of the rows that are kept.
func withoutRows(f *pb.DataFragment, deleted *roaring.Bitmap) (*pb.DataFragment, error) {
	l, err := LineageOf(f)
	if err != nil {
		return nil, err
	}
	rows := f.GetPhysicalRows()
	out := &pb.DataFragment{Id: f.GetId(), PhysicalRows: rows - deleted.GetCardinality()}
	if l.RowIDs != nil {
		ids, err := decodeRowIDs(l.RowIDs, rows)
		if err != nil {
			return nil, fmt.Errorf("row ids of fragment %d: %w", f.GetId(), err)
		}
		if l.RowIDs, err = proto.Marshal(ids.without(deleted)); err != nil {
			return nil, err
		}
	}
	for _, v := range []struct {
		what string
		raw  *[]byte
	}{{"created", &l.CreatedAt}, {"updated", &l.LastUpdated}} {
		runs, err := decodeRuns(*v.raw, rows)
		if err == nil && runs != nil {
			*v.raw, err = runs.without(deleted).encode()
		}
		if err != nil {
			return nil, fmt.Errorf("%s versions of fragment %d: %w", v.what, f.GetId(), err)
		}
	}
	l.Set(out)
	return out, nil
}

// without leaves out rows.
func (v versionRuns) without(deleted *roaring.Bitmap) versionRuns {
	out := versionRuns{}
	var at uint64
	for _, r := range v {
		if n := r.rows - countIn(deleted, at, at+r.rows); n > 0 {
			out = out.append(versionRuns{{n, r.version}})
		}
		at += r.rows
	}
	return out
}

// countIn counts the members of a set in a range.
func countIn(set *roaring.Bitmap, from, to uint64) uint64 {
	below := func(n uint64) uint64 {
		if n == 0 {
			return 0
		}
		return set.Rank(uint32(min(n-1, math.MaxUint32)))
	}
	return below(to) - below(from)
}

// without are the ids of the rows that are not deleted, one segment for each that lost some.
func (r *RowIDs) without(deleted *roaring.Bitmap) *pb.RowIdSequence {
	seq := new(pb.RowIdSequence)
	var from uint64
	for i, end := range r.ends {
		var ids []uint64
		at := from
		it := deleted.Iterator()
		it.AdvanceIfNeeded(uint32(min(from, math.MaxUint32)))
		for it.HasNext() && at < end {
			gone := min(uint64(it.Next()), end)
			if gone > at {
				ids = r.segments[i].append(ids, at-from, gone-from)
			}
			at = max(at, gone+1)
		}
		if at < end {
			ids = r.segments[i].append(ids, at-from, end-from)
		}
		if len(ids) > 0 {
			seq.Segments = append(seq.Segments, segmentOf(ids))
		}
		from = end
	}
	return seq
}

// segmentOf makes the smallest segment of ids, as Lance does.
func segmentOf(ids []uint64) *pb.U64Segment {
	first, last := ids[0], ids[len(ids)-1]
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			return &pb.U64Segment{Segment: &pb.U64Segment_Array{Array: arrayOf(ids)}}
		}
	}
	width := last - first + 1 // ascending: no overflow but for all of uint64
	n := uint64(len(ids))
	if width == n && last < math.MaxUint64 {
		return rangeSegment(first, last+1)
	}
	holes := width - n
	asArray, asBitmap := arrayBytes(first, last, n), (width+7)/8
	asHoles := uint64(math.MaxUint64)
	if holes < n*8 { // so many that they are worth making
		asHoles = arrayBytes(first, last, holes)
	}
	switch {
	case last == math.MaxUint64 || asArray <= asBitmap && asArray <= asHoles:
		return &pb.U64Segment{Segment: &pb.U64Segment_SortedArray{SortedArray: arrayOf(ids)}}
	case asHoles <= asBitmap:
		missing := make([]uint64, 0, holes)
		for i := 1; i < len(ids); i++ {
			for v := ids[i-1] + 1; v < ids[i]; v++ {
				missing = append(missing, v)
			}
		}
		return &pb.U64Segment{Segment: &pb.U64Segment_RangeWithHoles_{RangeWithHoles: &pb.U64Segment_RangeWithHoles{Start: first, End: last + 1, Holes: arrayOf(missing)}}}
	}
	bitmap := make([]byte, asBitmap)
	for _, v := range ids {
		bitmap[(v-first)/8] |= 1 << ((v - first) % 8)
	}
	return &pb.U64Segment{Segment: &pb.U64Segment_RangeWithBitmap_{RangeWithBitmap: &pb.U64Segment_RangeWithBitmap{Start: first, End: last + 1, Bitmap: bitmap}}}
}

// arrayBytes is about what an array of so many values between two takes.
func arrayBytes(low, high, n uint64) uint64 {
	switch {
	case high-low <= math.MaxUint16:
		return 2 * n
	case high-low <= math.MaxUint32:
		return 4 * n
	}
	return 8 * n
}

// arrayOf encodes values, each as its distance from the least where that is shorter.
func arrayOf(values []uint64) *pb.EncodedU64Array {
	low, high := slices.Min(values), slices.Max(values)
	var b []byte
	switch {
	case high-low <= math.MaxUint16:
		for _, v := range values {
			b = binary.LittleEndian.AppendUint16(b, uint16(v-low))
		}
		return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U16Array{U16Array: &pb.EncodedU64Array_Narrow{Base: low, Offsets: b}}}
	case high-low <= math.MaxUint32:
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, uint32(v-low))
		}
		return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U32Array{U32Array: &pb.EncodedU64Array_Narrow{Base: low, Offsets: b}}}
	}
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U64Array{U64Array: &pb.EncodedU64Array_Wide{Values: b}}}
}
