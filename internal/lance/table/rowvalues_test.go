package table

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// randomSegment makes a segment of any kind, and the values that it stands for.
func randomSegment(r *rand.Rand) (*pb.U64Segment, []uint64) {
	start, n := r.Uint64N(1000), r.Uint64N(1500)
	var in, out []uint64
	for v := start; v < start+n; v++ {
		if r.IntN(3) > 0 {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
	}
	switch r.IntN(5) {
	case 0:
		in = append(in, out...)
		slices.Sort(in)
		return rangeSegment(start, start+n), in
	case 1:
		return &pb.U64Segment{Segment: &pb.U64Segment_RangeWithHoles_{RangeWithHoles: &pb.U64Segment_RangeWithHoles{
			Start: start, End: start + n, Holes: encodeIDs(out, r.IntN(3))}}}, in
	case 2:
		bitmap := make([]byte, (n+7)/8)
		for _, v := range in {
			bitmap[(v-start)/8] |= 1 << ((v - start) % 8)
		}
		if n%8 != 0 { // what lies behind the end means nothing
			bitmap[len(bitmap)-1] |= 0xff << (n % 8)
		}
		return &pb.U64Segment{Segment: &pb.U64Segment_RangeWithBitmap_{RangeWithBitmap: &pb.U64Segment_RangeWithBitmap{
			Start: start, End: start + n, Bitmap: bitmap}}}, in
	case 3:
		return &pb.U64Segment{Segment: &pb.U64Segment_SortedArray{SortedArray: encodeIDs(in, r.IntN(3))}}, in
	default:
		r.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		return &pb.U64Segment{Segment: &pb.U64Segment_Array{Array: encodeIDs(in, r.IntN(3))}}, in
	}
}

func encodeIDs(v []uint64, width int) *pb.EncodedU64Array {
	var base uint64
	if len(v) > 0 {
		base = slices.Min(v)
	}
	var b []byte
	switch width {
	case 0:
		for _, x := range v {
			b = binary.LittleEndian.AppendUint16(b, uint16(x-base))
		}
		return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U16Array{U16Array: &pb.EncodedU64Array_Narrow{Base: base, Offsets: b}}}
	case 1:
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, uint32(x-base))
		}
		return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U32Array{U32Array: &pb.EncodedU64Array_Narrow{Base: base, Offsets: b}}}
	}
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U64Array{U64Array: &pb.EncodedU64Array_Wide{Values: b}}}
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRowIDValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var want []uint64
		seq := new(pb.RowIdSequence)
		for range r.IntN(5) {
			s, v := randomSegment(r)
			seq.Segments, want = append(seq.Segments, s), append(want, v...)
		}
		f := &pb.DataFragment{RowIdSequence: &pb.DataFragment_InlineRowIds{InlineRowIds: marshal(t, seq)}}
		ids, err := RowIDsOf(f, uint64(len(want)))
		if err != nil {
			t.Fatal(err)
		}
		if got := ids.Append(nil, 0, uint64(len(want))); !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", seq, got, want)
		}
		for range 20 {
			from := r.IntN(len(want) + 1)
			to := from + r.IntN(len(want)-from+1)
			if got := ids.Append([]uint64{7}, uint64(from), uint64(to)); !slices.Equal(got[1:], want[from:to]) {
				t.Fatalf("%v: rows [%d, %d): got %v, want %v", seq, from, to, got[1:], want[from:to])
			}
		}
		if _, err := RowIDsOf(f, uint64(len(want)+1)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("one row more than ids: error %v", err)
		}
	}
}

func TestRowIDsThatContradict(t *testing.T) {
	holes := func(v ...uint64) *pb.U64Segment {
		return &pb.U64Segment{Segment: &pb.U64Segment_RangeWithHoles_{RangeWithHoles: &pb.U64Segment_RangeWithHoles{
			Start: 10, End: 20, Holes: encodeIDs(v, 2)}}}
	}
	for name, s := range map[string]*pb.U64Segment{
		"a hole twice":          holes(12, 12),
		"holes that descend":    holes(13, 12),
		"a hole before a range": holes(9, 12),
		"a hole behind a range": holes(12, 20),
	} {
		f := &pb.DataFragment{RowIdSequence: &pb.DataFragment_InlineRowIds{InlineRowIds: marshal(t, &pb.RowIdSequence{Segments: []*pb.U64Segment{s}})}}
		if _, err := RowIDsOf(f, 8); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := RowIDsOf(&pb.DataFragment{}, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("no ids: error %v", err)
	}
	external := &pb.DataFragment{RowIdSequence: &pb.DataFragment_ExternalRowIds{ExternalRowIds: &pb.ExternalFile{}}}
	if _, err := RowIDsOf(external, 0); !errors.Is(err, ErrRefused) {
		t.Errorf("ids elsewhere: error %v", err)
	}
}

func TestRowVersionValues(t *testing.T) {
	seq := &pb.RowDatasetVersionSequence{Runs: []*pb.RowDatasetVersionSequence_Run{
		{Span: rangeSegment(100, 102), Version: 3}, {Span: rangeSegment(0, 0), Version: 9}, {Span: rangeSegment(5, 8), Version: 1}}}
	raw := marshal(t, seq)
	created := &pb.DataFragment_InlineCreatedAtVersions{InlineCreatedAtVersions: raw}
	updated := &pb.DataFragment_InlineLastUpdatedAtVersions{InlineLastUpdatedAtVersions: raw}
	said, ones := []uint64{3, 3, 1, 1, 1}, []uint64{1, 1, 1, 1, 1}
	for _, tt := range []struct {
		name        string
		f           *pb.DataFragment
		made, since []uint64
	}{
		{"nothing", &pb.DataFragment{}, ones, ones},
		{"made", &pb.DataFragment{CreatedAtVersionSequence: created}, said, said},
		{"updated", &pb.DataFragment{LastUpdatedAtVersionSequence: updated}, ones, said},
	} {
		c, u, err := RowVersionsOf(tt.f, 5)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		for from := range 6 {
			for to := from; to <= 5; to++ {
				if got := c.Append(nil, uint64(from), uint64(to)); !slices.Equal(got, tt.made[from:to]) {
					t.Errorf("%s: created of [%d, %d) = %v", tt.name, from, to, got)
				}
				if got := u.Append(nil, uint64(from), uint64(to)); !slices.Equal(got, tt.since[from:to]) {
					t.Errorf("%s: updated of [%d, %d) = %v", tt.name, from, to, got)
				}
			}
		}
	}
	if _, _, err := RowVersionsOf(&pb.DataFragment{CreatedAtVersionSequence: created}, 6); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one row more: error %v", err)
	}
}
