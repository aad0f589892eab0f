package table

import (
	"fmt"
	"math/bits"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Lineage is what a fragment of a table with stable row ids says about its
// rows, in their order: encoded messages, nil where the fragment says nothing.
type Lineage struct {
	RowIDs      []byte // RowIdSequence
	CreatedAt   []byte // RowDatasetVersionSequence
	LastUpdated []byte // RowDatasetVersionSequence
}

// LineageOf takes a fragment's lineage. It refuses one that lies outside the
// manifest.
func LineageOf(f *pb.DataFragment) (Lineage, error) {
	switch {
	case f.GetExternalRowIds() != nil, f.GetExternalCreatedAtVersions() != nil, f.GetExternalLastUpdatedAtVersions() != nil:
		return Lineage{}, fmt.Errorf("%w: fragment %d keeps its row ids or versions outside the manifest", ErrRefused, f.GetId())
	}
	return Lineage{RowIDs: f.GetInlineRowIds(), CreatedAt: f.GetInlineCreatedAtVersions(), LastUpdated: f.GetInlineLastUpdatedAtVersions()}, nil
}

// Set puts a lineage into a new fragment.
func (l Lineage) Set(f *pb.DataFragment) {
	if l.RowIDs != nil {
		f.RowIdSequence = &pb.DataFragment_InlineRowIds{InlineRowIds: l.RowIDs}
	}
	if l.CreatedAt != nil {
		f.CreatedAtVersionSequence = &pb.DataFragment_InlineCreatedAtVersions{InlineCreatedAtVersions: l.CreatedAt}
	}
	if l.LastUpdated != nil {
		f.LastUpdatedAtVersionSequence = &pb.DataFragment_InlineLastUpdatedAtVersions{InlineLastUpdatedAtVersions: l.LastUpdated}
	}
}

// ConcatLineage is the lineage of fragments put one behind the other. None of
// them may have deleted rows. A fragment that does not say when its rows were
// made had them from version 1 on, and one that does not say when they were
// updated since they were made (FORMAT A2.7).
func ConcatLineage(fs []*pb.DataFragment) (Lineage, error) {
	var ids pb.RowIdSequence
	var created, updated versionRuns
	var any Lineage
	for _, f := range fs {
		l, err := LineageOf(f)
		if err != nil {
			return Lineage{}, err
		}
		rows := f.GetPhysicalRows()
		if l.RowIDs != nil {
			any.RowIDs = l.RowIDs
		}
		if err := appendRowIDs(&ids, l.RowIDs, rows); err != nil {
			return Lineage{}, fmt.Errorf("row ids of fragment %d: %w", f.GetId(), err)
		}
		c, err := decodeRuns(l.CreatedAt, rows)
		if err != nil {
			return Lineage{}, fmt.Errorf("created versions of fragment %d: %w", f.GetId(), err)
		}
		if c == nil {
			c = versionRuns{{rows: rows, version: 1}}
		} else {
			any.CreatedAt = l.CreatedAt
		}
		u, err := decodeRuns(l.LastUpdated, rows)
		if err != nil {
			return Lineage{}, fmt.Errorf("updated versions of fragment %d: %w", f.GetId(), err)
		}
		if u == nil {
			u = c
		} else {
			any.LastUpdated = l.LastUpdated
		}
		created, updated = created.append(c), updated.append(u)
	}
	var out Lineage
	var err error
	if any.RowIDs != nil {
		if out.RowIDs, err = proto.Marshal(&ids); err != nil {
			return Lineage{}, err
		}
	}
	if any.CreatedAt != nil {
		if out.CreatedAt, err = created.encode(); err != nil {
			return Lineage{}, err
		}
	}
	if any.LastUpdated != nil {
		if out.LastUpdated, err = updated.encode(); err != nil {
			return Lineage{}, err
		}
	}
	return out, nil
}

// appendRowIDs appends an encoded sequence of exactly rows ids.
func appendRowIDs(to *pb.RowIdSequence, raw []byte, rows uint64) error {
	seq := new(pb.RowIdSequence)
	if err := pb.Unmarshal(raw, seq); err != nil {
		return fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	var n uint64
	for _, s := range seq.GetSegments() {
		c, err := segmentLen(s)
		if err != nil {
			return err
		}
		if c > rows-n { // a sum could overflow
			return fmt.Errorf("%w: more than %d ids for %d rows", ErrCorrupt, n, rows)
		}
		n += c
		last := len(to.Segments) - 1
		if r := s.GetRange(); r != nil && last >= 0 && to.Segments[last].GetRange() != nil && to.Segments[last].GetRange().GetEnd() == r.GetStart() {
			// Neighbours in one range stay one range.
			to.Segments[last] = rangeSegment(to.Segments[last].GetRange().GetStart(), r.GetEnd())
			continue
		}
		to.Segments = append(to.Segments, s)
	}
	if raw != nil && n != rows {
		return fmt.Errorf("%w: %d ids for %d rows", ErrCorrupt, n, rows)
	}
	return nil
}

func rangeSegment(start, end uint64) *pb.U64Segment {
	return &pb.U64Segment{Segment: &pb.U64Segment_Range_{Range: &pb.U64Segment_Range{Start: start, End: end}}}
}

// segmentLen counts the values of a segment.
func segmentLen(s *pb.U64Segment) (uint64, error) {
	span := func(start, end uint64) (uint64, error) {
		if end < start {
			return 0, fmt.Errorf("%w: range from %d to %d", ErrCorrupt, start, end)
		}
		return end - start, nil
	}
	switch g := s.GetSegment().(type) {
	case *pb.U64Segment_Range_:
		return span(g.Range.GetStart(), g.Range.GetEnd())
	case *pb.U64Segment_RangeWithHoles_:
		n, err := span(g.RangeWithHoles.GetStart(), g.RangeWithHoles.GetEnd())
		if err != nil {
			return 0, err
		}
		holes, err := arrayLen(g.RangeWithHoles.GetHoles())
		if err != nil || holes > n {
			return 0, fmt.Errorf("%w: %d holes in a range of %d", ErrCorrupt, holes, n)
		}
		return n - holes, nil
	case *pb.U64Segment_RangeWithBitmap_:
		n, err := span(g.RangeWithBitmap.GetStart(), g.RangeWithBitmap.GetEnd())
		if err != nil {
			return 0, err
		}
		bitmap := g.RangeWithBitmap.GetBitmap()
		if n > uint64(len(bitmap))*8 {
			return 0, fmt.Errorf("%w: bitmap of %d bytes for %d values", ErrCorrupt, len(bitmap), n)
		}
		var c uint64
		for i, b := range bitmap {
			// Least significant bit first; bits past the end don't count.
			if left := n - min(n, uint64(i)*8); left < 8 {
				b &= 1<<left - 1
			}
			c += uint64(bits.OnesCount8(b))
		}
		return c, nil
	case *pb.U64Segment_SortedArray:
		return arrayLen(g.SortedArray)
	case *pb.U64Segment_Array:
		return arrayLen(g.Array)
	}
	return 0, fmt.Errorf("%w: row id segment of an unknown kind", ErrRefused)
}

func arrayLen(a *pb.EncodedU64Array) (uint64, error) {
	width, size := 0, 0
	switch g := a.GetArray().(type) {
	case *pb.EncodedU64Array_U16Array:
		width, size = 2, len(g.U16Array.GetOffsets())
	case *pb.EncodedU64Array_U32Array:
		width, size = 4, len(g.U32Array.GetOffsets())
	case *pb.EncodedU64Array_U64Array:
		width, size = 8, len(g.U64Array.GetValues())
	default:
		return 0, fmt.Errorf("%w: integer array of an unknown kind", ErrRefused)
	}
	if size%width != 0 {
		return 0, fmt.Errorf("%w: %d bytes hold no whole number of %d-byte integers", ErrCorrupt, size, width)
	}
	return uint64(size / width), nil
}

// versionRuns is a decoded RowDatasetVersionSequence.
type versionRuns []versionRun

type versionRun struct{ rows, version uint64 }

func decodeRuns(raw []byte, rows uint64) (versionRuns, error) {
	if raw == nil {
		return nil, nil
	}
	seq := new(pb.RowDatasetVersionSequence)
	if err := pb.Unmarshal(raw, seq); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	runs := versionRuns{}
	var n uint64
	for _, r := range seq.GetRuns() {
		c, err := segmentLen(r.GetSpan())
		if err != nil {
			return nil, err
		}
		if c > rows-n {
			return nil, fmt.Errorf("%w: versions of more than %d rows for %d rows", ErrCorrupt, n, rows)
		}
		runs = append(runs, versionRun{c, r.GetVersion()})
		n += c
	}
	if n != rows {
		return nil, fmt.Errorf("%w: versions of %d rows for %d rows", ErrCorrupt, n, rows)
	}
	return runs, nil
}

func (v versionRuns) append(more versionRuns) versionRuns {
	for _, r := range more {
		if last := len(v) - 1; last >= 0 && v[last].version == r.version {
			v[last].rows += r.rows
			continue
		}
		v = append(v, r)
	}
	return v
}

func (v versionRuns) encode() ([]byte, error) {
	seq := new(pb.RowDatasetVersionSequence)
	var at uint64
	for _, r := range v {
		seq.Runs = append(seq.Runs, &pb.RowDatasetVersionSequence_Run{Span: rangeSegment(at, at+r.rows), Version: r.version})
		at += r.rows
	}
	return proto.Marshal(seq)
}
