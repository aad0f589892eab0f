package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// values reads a segment as the format describes it, independently of how the
// package counts it.
func values(tb testing.TB, s *pb.U64Segment) (out []uint64) {
	tb.Helper()
	array := func(a *pb.EncodedU64Array) (v []uint64) {
		switch g := a.GetArray().(type) {
		case *pb.EncodedU64Array_U16Array:
			for b := g.U16Array.GetOffsets(); len(b) > 0; b = b[2:] {
				v = append(v, g.U16Array.GetBase()+uint64(binary.LittleEndian.Uint16(b)))
			}
		case *pb.EncodedU64Array_U32Array:
			for b := g.U32Array.GetOffsets(); len(b) > 0; b = b[4:] {
				v = append(v, g.U32Array.GetBase()+uint64(binary.LittleEndian.Uint32(b)))
			}
		case *pb.EncodedU64Array_U64Array:
			for b := g.U64Array.GetValues(); len(b) > 0; b = b[8:] {
				v = append(v, binary.LittleEndian.Uint64(b))
			}
		default:
			tb.Fatalf("array %v", a)
		}
		return v
	}
	switch g := s.GetSegment().(type) {
	case *pb.U64Segment_Range_:
		for v := g.Range.GetStart(); v < g.Range.GetEnd(); v++ {
			out = append(out, v)
		}
	case *pb.U64Segment_RangeWithHoles_:
		holes := array(g.RangeWithHoles.GetHoles())
		for v := g.RangeWithHoles.GetStart(); v < g.RangeWithHoles.GetEnd(); v++ {
			if !slices.Contains(holes, v) {
				out = append(out, v)
			}
		}
	case *pb.U64Segment_RangeWithBitmap_:
		r := g.RangeWithBitmap
		for i := range r.GetEnd() - r.GetStart() {
			if r.GetBitmap()[i/8]>>(i%8)&1 == 1 {
				out = append(out, r.GetStart()+i)
			}
		}
	case *pb.U64Segment_SortedArray:
		out = array(g.SortedArray)
	case *pb.U64Segment_Array:
		out = array(g.Array)
	default:
		tb.Fatalf("segment %v", s)
	}
	return out
}

// rowIDs are a fragment's row ids, one by one.
func rowIDs(tb testing.TB, raw []byte) (out []uint64) {
	tb.Helper()
	seq := new(pb.RowIdSequence)
	if err := proto.Unmarshal(raw, seq); err != nil {
		tb.Fatal(err)
	}
	for _, s := range seq.GetSegments() {
		out = append(out, values(tb, s)...)
	}
	return out
}

// rowVersions are a fragment's versions, one by one.
func rowVersions(tb testing.TB, raw []byte) (out []uint64) {
	tb.Helper()
	seq := new(pb.RowDatasetVersionSequence)
	if err := proto.Unmarshal(raw, seq); err != nil {
		tb.Fatal(err)
	}
	for _, r := range seq.GetRuns() {
		out = append(out, slices.Repeat([]uint64{r.GetVersion()}, len(values(tb, r.GetSpan())))...)
	}
	return out
}

func rangeOf(start, end uint64) *pb.U64Segment { return rangeSegment(start, end) }

func bitmapSegment(start, end uint64, bitmap ...byte) *pb.U64Segment {
	return &pb.U64Segment{Segment: &pb.U64Segment_RangeWithBitmap_{RangeWithBitmap: &pb.U64Segment_RangeWithBitmap{Start: start, End: end, Bitmap: bitmap}}}
}

func holesSegment(start, end uint64, holes *pb.EncodedU64Array) *pb.U64Segment {
	return &pb.U64Segment{Segment: &pb.U64Segment_RangeWithHoles_{RangeWithHoles: &pb.U64Segment_RangeWithHoles{Start: start, End: end, Holes: holes}}}
}

func narrow16(base uint64, offsets ...byte) *pb.EncodedU64Array {
	return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U16Array{U16Array: &pb.EncodedU64Array_Narrow{Base: base, Offsets: offsets}}}
}

func narrow32(base uint64, offsets ...byte) *pb.EncodedU64Array {
	return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U32Array{U32Array: &pb.EncodedU64Array_Narrow{Base: base, Offsets: offsets}}}
}

func wide(b ...byte) *pb.EncodedU64Array {
	return &pb.EncodedU64Array{Array: &pb.EncodedU64Array_U64Array{U64Array: &pb.EncodedU64Array_Wide{Values: b}}}
}

func arraySegment(a *pb.EncodedU64Array) *pb.U64Segment {
	return &pb.U64Segment{Segment: &pb.U64Segment_Array{Array: a}}
}

func sortedSegment(a *pb.EncodedU64Array) *pb.U64Segment {
	return &pb.U64Segment{Segment: &pb.U64Segment_SortedArray{SortedArray: a}}
}

func sequence(tb testing.TB, segments ...*pb.U64Segment) []byte {
	tb.Helper()
	b, err := proto.Marshal(&pb.RowIdSequence{Segments: segments})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

type versionSpan struct {
	span    *pb.U64Segment
	version uint64
}

func versionSequence(tb testing.TB, spans ...versionSpan) []byte {
	tb.Helper()
	seq := new(pb.RowDatasetVersionSequence)
	for _, s := range spans {
		seq.Runs = append(seq.Runs, &pb.RowDatasetVersionSequence_Run{Span: s.span, Version: s.version})
	}
	b, err := proto.Marshal(seq)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// segments of every kind, with what they hold.
func segmentKinds() map[string]*pb.U64Segment {
	return map[string]*pb.U64Segment{
		"range":                        rangeOf(5, 12),
		"empty range":                  rangeOf(5, 5),
		"bitmap":                       bitmapSegment(100, 116, 0b10110001, 0b00000001),
		"bitmap, bits behind the end":  bitmapSegment(100, 111, 0b10110001, 0b11111101),
		"bitmap, bytes behind the end": bitmapSegment(100, 103, 0xff, 0xff, 0xff),
		"bitmap of nothing":            bitmapSegment(7, 7),
		"holes, 16 bits":               holesSegment(10, 20, narrow16(11, 0, 0, 2, 0)),
		"holes, 32 bits":               holesSegment(10, 20, narrow32(11, 0, 0, 0, 0)),
		"holes, 64 bits":               holesSegment(10, 20, wide(12, 0, 0, 0, 0, 0, 0, 0)),
		"no holes":                     holesSegment(10, 20, narrow16(0)),
		"sorted, 16 bits":              sortedSegment(narrow16(1000, 1, 0, 255, 255)),
		"sorted, 32 bits":              sortedSegment(narrow32(1<<40, 1, 0, 0, 0, 0, 0, 0, 255)),
		"sorted, 64 bits":              sortedSegment(wide(1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9)),
		"array, 16 bits":               arraySegment(narrow16(1000, 9, 0, 1, 0)),
		"array, 32 bits":               arraySegment(narrow32(7, 9, 0, 0, 0)),
		"array, 64 bits":               arraySegment(wide(255, 255, 255, 255, 255, 255, 255, 255)),
		"empty array":                  arraySegment(wide()),
	}
}

func TestSegmentLen(t *testing.T) {
	for name, s := range segmentKinds() {
		if n, err := segmentLen(s); err != nil || n != uint64(len(values(t, s))) {
			t.Errorf("%s: %d values, want %v (%v)", name, n, values(t, s), err)
		}
	}
	for name, s := range map[string]*pb.U64Segment{
		"range backwards":        rangeOf(5, 4),
		"bitmap too short":       bitmapSegment(0, 9, 0xff),
		"bitmap of 2^64":         bitmapSegment(0, 1<<64-1, 0xff),
		"bitmap backwards":       bitmapSegment(9, 0, 0xff),
		"more holes than values": holesSegment(0, 1, narrow16(0, 0, 0, 1, 0)),
		"holes backwards":        holesSegment(9, 0, narrow16(0)),
		"holes not said":         holesSegment(0, 9, nil),
		"half an integer of 16":  arraySegment(narrow16(0, 1)),
		"half an integer of 32":  arraySegment(narrow32(0, 1, 2, 3, 4, 5)),
		"half an integer of 64":  sortedSegment(wide(1, 2, 3, 4, 5, 6, 7)),
		"array of no kind":       arraySegment(&pb.EncodedU64Array{}),
		"nothing":                {},
	} {
		if n, err := segmentLen(s); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %d values, error %v", name, n, err)
		}
	}
	if _, err := segmentLen(nil); err == nil {
		t.Error("no segment at all is all right")
	}
}

// Fragments put one behind the other keep their rows' ids and versions, in order.
func TestConcatLineage(t *testing.T) {
	kinds := segmentKinds()
	var fs []*pb.DataFragment
	var ids []uint64
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		s := kinds[name]
		v := values(t, s)
		f := &pb.DataFragment{Id: uint64(len(fs)), PhysicalRows: uint64(len(v))}
		Lineage{RowIDs: sequence(t, s)}.Set(f)
		fs, ids = append(fs, f), append(ids, v...)
	}
	got, err := ConcatLineage(fs)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rowIDs(t, got.RowIDs), ids) {
		t.Errorf("row ids %v, want %v", rowIDs(t, got.RowIDs), ids)
	}
	if got.CreatedAt != nil || got.LastUpdated != nil {
		t.Error("versions out of nothing")
	}
	// Ranges that continue each other stay one range, also across fragments.
	a, b, c := &pb.DataFragment{PhysicalRows: 3}, &pb.DataFragment{PhysicalRows: 4}, &pb.DataFragment{PhysicalRows: 2}
	Lineage{RowIDs: sequence(t, rangeOf(0, 1), rangeOf(1, 3))}.Set(a)
	Lineage{RowIDs: sequence(t, rangeOf(3, 7))}.Set(b)
	Lineage{RowIDs: sequence(t, rangeOf(9, 11))}.Set(c)
	got, err = ConcatLineage([]*pb.DataFragment{a, b, c})
	want := sequence(t, rangeOf(0, 7), rangeOf(9, 11))
	if err != nil || !slices.Equal(got.RowIDs, want) {
		t.Errorf("ids %x, want %x (%v)", got.RowIDs, want, err)
	}
	if string(a.GetInlineRowIds()) != string(sequence(t, rangeOf(0, 1), rangeOf(1, 3))) {
		t.Error("the source has changed")
	}
}

func TestConcatVersions(t *testing.T) {
	ids := func(rows uint64) []byte { return sequence(t, rangeOf(0, rows)) }
	repeat := func(pairs ...uint64) (v []uint64) {
		for i := 0; i < len(pairs); i += 2 {
			v = append(v, slices.Repeat([]uint64{pairs[i+1]}, int(pairs[i]))...)
		}
		return v
	}
	type fragment struct {
		rows             uint64
		created, updated []byte
	}
	tests := []struct {
		name             string
		fs               []fragment
		created, updated []uint64 // nil: not said
	}{
		{"nothing said", []fragment{{3, nil, nil}, {2, nil, nil}}, nil, nil},
		{"both said", []fragment{
			{3, versionSequence(t, versionSpan{rangeOf(0, 3), 4}), versionSequence(t, versionSpan{rangeOf(0, 1), 5}, versionSpan{rangeOf(1, 3), 6})},
			{2, versionSequence(t, versionSpan{rangeOf(0, 2), 7}), versionSequence(t, versionSpan{rangeOf(0, 2), 8})},
		}, repeat(3, 4, 2, 7), repeat(1, 5, 2, 6, 2, 8)},
		{"created missing in one: version 1", []fragment{
			{2, nil, nil}, {2, versionSequence(t, versionSpan{rangeOf(0, 2), 7}), nil},
		}, repeat(2, 1, 2, 7), nil},
		{"updated missing in one: as created", []fragment{
			{2, versionSequence(t, versionSpan{rangeOf(0, 1), 3}, versionSpan{rangeOf(1, 2), 4}), nil},
			{1, versionSequence(t, versionSpan{rangeOf(0, 1), 5}), versionSequence(t, versionSpan{rangeOf(0, 1), 9})},
		}, repeat(1, 3, 1, 4, 1, 5), repeat(1, 3, 1, 4, 1, 9)},
		{"only updated said", []fragment{
			{2, nil, nil}, {2, nil, versionSequence(t, versionSpan{rangeOf(0, 2), 9})},
		}, nil, repeat(2, 1, 2, 9)},
		// After a compaction by Lance, spans carry what was left of the sources.
		{"only the number of values in a span counts", []fragment{
			{4, versionSequence(t, versionSpan{bitmapSegment(0, 11, 0b00000011, 0b00000100), 3}, versionSpan{rangeOf(1, 2), 3}), nil},
			{3, versionSequence(t, versionSpan{holesSegment(5, 9, narrow16(6, 0, 0)), 4}), nil},
		}, repeat(4, 3, 3, 4), nil},
		{"runs of one version become one", []fragment{
			{2, versionSequence(t, versionSpan{rangeOf(0, 2), 3}), nil}, {2, versionSequence(t, versionSpan{rangeOf(0, 2), 3}), nil},
		}, repeat(4, 3), nil},
		{"no rows", []fragment{{0, versionSequence(t), versionSequence(t)}}, []uint64{}, []uint64{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var fs []*pb.DataFragment
			for _, x := range tt.fs {
				f := &pb.DataFragment{PhysicalRows: x.rows}
				Lineage{RowIDs: ids(x.rows), CreatedAt: x.created, LastUpdated: x.updated}.Set(f)
				fs = append(fs, f)
			}
			got, err := ConcatLineage(fs)
			if err != nil {
				t.Fatal(err)
			}
			for what, x := range map[string]struct {
				raw  []byte
				want []uint64
			}{"created": {got.CreatedAt, tt.created}, "updated": {got.LastUpdated, tt.updated}} {
				if (x.raw == nil) != (x.want == nil) || x.raw != nil && !slices.Equal(rowVersions(t, x.raw), x.want) {
					t.Errorf("%s: %v, want %v", what, rowVersions(t, x.raw), x.want)
				}
			}
			// The runs of what was made are as few as can be, and their spans follow each other.
			seq := new(pb.RowDatasetVersionSequence)
			if err := proto.Unmarshal(got.CreatedAt, seq); err != nil {
				t.Fatal(err)
			}
			at, last := uint64(0), uint64(1<<63)
			for _, r := range seq.GetRuns() {
				if r.GetSpan().GetRange().GetStart() != at || r.GetVersion() == last {
					t.Errorf("run %v behind row %d of version %d", r, at, last)
				}
				at, last = r.GetSpan().GetRange().GetEnd(), r.GetVersion()
			}
		})
	}
}

func TestConcatLineageErrors(t *testing.T) {
	good := &pb.DataFragment{Id: 1, PhysicalRows: 2}
	Lineage{RowIDs: sequence(t, rangeOf(0, 2))}.Set(good)
	external := &pb.ExternalFile{Path: "x"}
	bad := make(map[string]*pb.DataFragment)
	for name, raw := range map[string][]byte{
		"too few ids":             sequence(t, rangeOf(0, 1)),
		"too many ids":            sequence(t, rangeOf(0, 3)),
		"ids that are no message": {0xff},
		"a segment of no kind":    sequence(t, &pb.U64Segment{}),
	} {
		bad[name] = &pb.DataFragment{PhysicalRows: 2}
		Lineage{RowIDs: raw}.Set(bad[name])
	}
	versions := func(b []byte) *pb.DataFragment {
		f := proto.CloneOf(good)
		Lineage{CreatedAt: b}.Set(f)
		return f
	}
	bad["too few versions"] = versions(versionSequence(t, versionSpan{rangeOf(0, 1), 1}))
	bad["versions without a span"] = versions(versionSequence(t, versionSpan{nil, 1}))
	bad["versions that are no message"] = versions([]byte{0xff})
	updated := proto.CloneOf(good)
	Lineage{LastUpdated: versionSequence(t, versionSpan{rangeOf(0, 3), 1})}.Set(updated)
	bad["too many updates"] = updated
	bad["external ids"] = &pb.DataFragment{RowIdSequence: &pb.DataFragment_ExternalRowIds{ExternalRowIds: external}}
	bad["external created"] = &pb.DataFragment{CreatedAtVersionSequence: &pb.DataFragment_ExternalCreatedAtVersions{ExternalCreatedAtVersions: external}}
	bad["external updated"] = &pb.DataFragment{LastUpdatedAtVersionSequence: &pb.DataFragment_ExternalLastUpdatedAtVersions{ExternalLastUpdatedAtVersions: external}}
	for name, f := range bad {
		f.Id = 77
		_, err := ConcatLineage([]*pb.DataFragment{good, f})
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: error %v", name, err)
		}
		says(t, err, "fragment 77")
	}
	// Lengths that add up only when they overflow.
	f := &pb.DataFragment{Id: 77, PhysicalRows: 2}
	Lineage{RowIDs: sequence(t, rangeOf(0, 1<<63), rangeOf(0, 1<<63), rangeOf(0, 2))}.Set(f)
	if _, err := ConcatLineage([]*pb.DataFragment{f}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("2^64+2 ids for 2 rows: error %v", err)
	}
}

// What real Lance wrote, whole: as many ids as rows, each once.
func TestLineageOfFixtures(t *testing.T) {
	kinds := make(map[string]bool)
	for _, tab := range pick(t, 100, "stable row ids", (*Table).StableRowIDs) {
		var all []uint64
		seen := make(map[uint64]bool)
		for _, f := range tab.Fragments() {
			v := rowIDs(t, f.GetInlineRowIds())
			if uint64(len(v)) != f.GetPhysicalRows() {
				t.Errorf("%s, fragment %d: %d ids for %d rows", tab.Ref().Name, f.GetId(), len(v), f.GetPhysicalRows())
			}
			all = append(all, v...)
			for _, id := range v {
				if id >= tab.Manifest().GetNextRowId() {
					t.Errorf("%s: row id %d, the next is %d", tab.Ref().Name, id, tab.Manifest().GetNextRowId())
				}
				seen[id] = true
			}
			seq := new(pb.RowIdSequence)
			if err := proto.Unmarshal(f.GetInlineRowIds(), seq); err != nil {
				t.Fatal(err)
			}
			for _, s := range seq.GetSegments() {
				kinds[fmt.Sprintf("%T", s.GetSegment())] = true
			}
		}
		got, err := ConcatLineage(tab.Fragments())
		if err != nil {
			t.Errorf("%s: %v", tab.Ref().Name, err)
			continue
		}
		if !slices.Equal(rowIDs(t, got.RowIDs), all) {
			t.Errorf("%s: row ids %v, want %v", tab.Ref().Name, rowIDs(t, got.RowIDs), all)
		}
		for what, want := range map[string]func(*pb.DataFragment) []byte{
			"created": (*pb.DataFragment).GetInlineCreatedAtVersions, "updated": (*pb.DataFragment).GetInlineLastUpdatedAtVersions,
		} {
			var v []uint64
			said := false
			for _, f := range tab.Fragments() {
				if raw := want(f); raw != nil {
					said = true
					v = append(v, rowVersions(t, raw)...)
				} else {
					v = append(v, make([]uint64, f.GetPhysicalRows())...) // not compared below
				}
			}
			raw := got.CreatedAt
			if what == "updated" {
				raw = got.LastUpdated
			}
			if !said {
				continue
			}
			made := rowVersions(t, raw)
			for i := range v {
				if v[i] != 0 && v[i] != made[i] {
					t.Errorf("%s: row %d %s in %d, was %d", tab.Ref().Name, i, what, made[i], v[i])
					break
				}
			}
		}
	}
	t.Logf("segments seen: %v", kinds)
}
