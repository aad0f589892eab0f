package compact

import (
	"context"
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// plainStore can't copy inside itself, as a cluster can't.
type plainStore struct{ objects.Store }

func (s plainStore) Create(ctx context.Context, name string) (objects.Writer, error) {
	w, err := s.Store.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct{ objects.Writer }{w}, nil
}

// Bytes that pass through memory come out as they went in, and through a buffer
// that is small against them.
func TestCopyThroughBuffer(t *testing.T) {
	for _, name := range []string{"types_20", "types_21", "types_22"} {
		s := copyOf(t, name)
		before := open(t, s)
		res, err := Run(t.Context(), plainStore{s}, Options{})
		if err != nil || res.FragmentsRemoved == 0 {
			t.Errorf("%s: %+v, error %v", name, res, err)
			continue
		}
		checkRewrites(t, s, before.Naming(), before.Version(), res.Version)
	}
	k := newMaker(t, 3, table.V2_1, flatFields(0)...)
	for range 3 {
		k.fragment(7, k.large(objects.CopyBuffer+12345))
	}
	before := k.done()
	res, err := Run(t.Context(), plainStore{k.s}, Options{})
	if err != nil || res.BytesWritten < 3*objects.CopyBuffer {
		t.Fatalf("%+v, error %v", res, err)
	}
	checkRewrites(t, k.s, before.Naming(), before.Version(), res.Version)
}

// large writes a data file of one column with one page of so many bytes.
func (k *maker) large(size int) *pb.DataFile {
	k.tb.Helper()
	d := &pb.DataFile{Path: newDataFile(), Fields: []int32{0}, ColumnIndices: []int32{0}, FileMajorVersion: k.version.Major, FileMinorVersion: k.version.Minor}
	w, err := k.s.Create(k.tb.Context(), table.DataName(d))
	if err != nil {
		k.tb.Fatal(err)
	}
	defer w.Abort()
	dw := datafile.NewWriter(w, nil)
	c := &pb.ColumnMetadata{Encoding: message(columnURL, oneField(1, ""))}
	for at := uint64(0); size > 0; at++ {
		n := min(size, sourceSize)
		pos, err := dw.Copy(k.tb.Context(), k.src, datafile.Span{Size: uint64(n)})
		if err != nil {
			k.tb.Fatal(err)
		}
		size -= n
		c.Pages = append(c.Pages, &pb.ColumnMetadata_Page{
			BufferOffsets: []uint64{pos}, BufferSizes: []uint64{uint64(n)}, Length: 1, Priority: at, Encoding: message(layoutURL, oneField(3, "")),
		})
	}
	if _, err := dw.Finish(k.tb.Context(), uint16(k.version.Major), uint16(k.version.Minor), &pb.FileDescriptor{Length: 7}, []*pb.ColumnMetadata{c}); err != nil {
		k.tb.Fatal(err)
	}
	return d
}

// Whatever the bytes of a data file are: they are merged, or the fragment is left
// with a reason; nothing panics, and no row is lost.
func FuzzMerge(f *testing.F) {
	base := copyAt(f, "branched", 2)
	for _, x := range open(f, base).Fragments() {
		raw, err := readAll(f, base, table.DataName(x.GetFiles()[0]))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(withGlobalBuffer(raw))
	}
	old := copyAt(f, "lance_1", 2) // file version 2.0: never merges here, but is never misread either
	for _, x := range open(f, old).Fragments() {
		raw, err := readAll(f, old, table.DataName(x.GetFiles()[0]))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		k := newMaker(t, 1, table.V2_2, open(t, base).Manifest().GetFields()...)
		template := open(t, base).Fragments()[0]
		for range 2 {
			d := &pb.DataFile{
				Path: newDataFile(), Fields: template.GetFiles()[0].GetFields(), ColumnIndices: template.GetFiles()[0].GetColumnIndices(),
				FileMajorVersion: 2, FileMinorVersion: 2,
			}
			if err := k.s.Publish(t.Context(), table.DataName(d), b); err != nil {
				t.Fatal(err)
			}
			k.fragment(template.GetPhysicalRows(), d)
		}
		before := k.done()
		res, err := Run(t.Context(), k.s, Options{})
		if err != nil && !errors.Is(err, errUncopyable) {
			t.Errorf("error %v", err)
		}
		after := open(t, k.s)
		if after.Rows() != before.Rows() {
			t.Errorf("%d rows", after.Rows())
		}
		if res.FragmentsRemoved > 0 {
			checkRewrites(t, k.s, before.Naming(), before.Version(), after.Version())
		} else if len(res.Plan.Left) == 0 { // the other may have been left alone with nobody to be merged with
			t.Errorf("left %v", res.Plan.Left)
		}
	})
}
