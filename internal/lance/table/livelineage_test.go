package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Whatever the segments are, the ids and versions of the rows that are kept stay what they were.
func TestLiveLineage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var fs []*pb.DataFragment
		var deleted []*roaring.Bitmap
		var ids, created []uint64
		for id := range 1 + r.IntN(3) {
			seq := new(pb.RowIdSequence)
			var all []uint64
			for range 1 + r.IntN(3) {
				s, v := randomSegment(r)
				seq.Segments, all = append(seq.Segments, s), append(all, v...)
			}
			if len(all) == 0 {
				continue
			}
			gone := roaring.New()
			for range r.IntN(4) {
				from := r.IntN(len(all))
				gone.AddRange(uint64(from), uint64(from+r.IntN(min(len(all)-from, 1+len(all)/3))))
			}
			var runs versionRuns
			var versions []uint64
			for n := uint64(len(all)); n > 0; {
				run := versionRun{rows: 1 + r.Uint64N(n), version: 1 + r.Uint64N(9)}
				runs, n = append(runs, run), n-run.rows
				versions = append(versions, slices.Repeat([]uint64{run.version}, int(run.rows))...)
			}
			raw, err := runs.encode()
			if err != nil {
				t.Fatal(err)
			}
			f := &pb.DataFragment{Id: uint64(id), PhysicalRows: uint64(len(all))}
			Lineage{RowIDs: marshal(t, seq), CreatedAt: raw}.Set(f)
			fs = append(fs, f)
			if gone.IsEmpty() && r.IntN(2) == 0 {
				gone = nil
			}
			deleted = append(deleted, gone)
			for i := range all {
				if gone == nil || !gone.Contains(uint32(i)) {
					ids, created = append(ids, all[i]), append(created, versions[i])
				}
			}
		}
		if len(fs) == 0 {
			continue
		}
		l, err := LiveLineage(fs, deleted)
		if err != nil {
			t.Fatal(err)
		}
		out := &pb.DataFragment{PhysicalRows: uint64(len(ids))}
		l.Set(out)
		got, err := RowIDsOf(out, out.GetPhysicalRows())
		if err != nil {
			t.Fatal(err)
		}
		if v := got.Append(nil, 0, out.GetPhysicalRows()); !slices.Equal(v, ids) {
			t.Fatalf("ids %v, want %v", v, ids)
		}
		made, updated, err := RowVersionsOf(out, out.GetPhysicalRows())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []*RowVersions{made, updated} {
			if v := v.Append(nil, 0, out.GetPhysicalRows()); !slices.Equal(v, created) {
				t.Fatalf("versions %v, want %v", v, created)
			}
		}
	}
}

// Segments are of the kind that takes least.
func TestSegmentOf(t *testing.T) {
	span := func(from, to uint64) (ids []uint64) {
		for v := from; v < to; v++ {
			ids = append(ids, v)
		}
		return ids
	}
	every := func(n, step uint64) (ids []uint64) {
		for i := range n {
			ids = append(ids, i*step)
		}
		return ids
	}
	tests := []struct {
		name string
		ids  []uint64
		kind any
	}{
		{"one", []uint64{5}, &pb.U64Segment_Range_{}},
		{"a range", span(7, 1000), &pb.U64Segment_Range_{}},
		{"one hole", append(span(0, 500), span(501, 1000)...), &pb.U64Segment_RangeWithHoles_{}},
		{"every second", every(1000, 2), &pb.U64Segment_RangeWithBitmap_{}},
		{"far apart", every(100, 1000), &pb.U64Segment_SortedArray{}},
		{"very far apart", every(3, 1<<40), &pb.U64Segment_SortedArray{}},
		{"in no order", []uint64{3, 1, 2}, &pb.U64Segment_Array{}},
		{"the highest", []uint64{math.MaxUint64 - 1, math.MaxUint64}, &pb.U64Segment_SortedArray{}},
	}
	for _, tt := range tests {
		s := segmentOf(tt.ids)
		if got, want := fmt.Sprintf("%T", s.GetSegment()), fmt.Sprintf("%T", tt.kind); got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
		if n, err := segmentLen(s); err != nil || n != uint64(len(tt.ids)) {
			t.Errorf("%s: %d values, error %v", tt.name, n, err)
		}
		x, err := newIDSegment(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.append(nil, 0, uint64(len(tt.ids))); !slices.Equal(got, tt.ids) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.ids)
		}
	}
}
