package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// scanWith reads a scan of a world to its end.
func scanWith(tb testing.TB, t *table.Table, o Options, need string) (*arrow.Schema, []arrow.RecordBatch, error) {
	tb.Helper()
	s, err := openWith(tb.Context(), t, o, opener(need))
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	batches, err := drain(tb, s)
	return s.Schema(), batches, err
}

var needs = []string{"all", "nothing", "first bytes"}

// Random tables with random options return the rows that they hold, in order,
// in batches within the bounds.
func TestRandomScans(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for i := range 40 {
		w := randomWorld(t, r)
		for range 15 {
			o := everyRowColumn(Options{Offset: r.Uint64N(60) * r.Uint64N(8), BatchRows: 1 + r.IntN(100), Threads: 1 + r.IntN(3),
				KeepDeleted: r.IntN(3) == 0, ReadAhead: 1 + r.Int64N(100_000), BatchBytes: 1 + r.Int64N(100_000)})
			if r.IntN(2) == 0 {
				n := r.Uint64N(800)
				o.Limit = &n
			}
			if r.IntN(3) == 0 {
				o.Offset, o.Limit, o.Rows, o.Deleted = 0, nil, make(map[uint64][]Range), make(map[uint64]*roaring.Bitmap)
				for _, f := range w.m.GetFragments() {
					for from := r.Uint64N(20); from < f.GetPhysicalRows() && r.IntN(5) > 0; {
						to := min(f.GetPhysicalRows(), from+r.Uint64N(50))
						o.Rows[f.GetId()] = append(o.Rows[f.GetId()], Range{from, to})
						from = to + r.Uint64N(30)
					}
					if r.IntN(2) == 0 {
						o.Deleted[f.GetId()] = w.deleted[f.GetId()]
					}
				}
			}
			if r.IntN(3) == 0 {
				o.Columns = [][]string{{}, {"c1"}, {"c2", "c0"}}[r.IntN(3)]
			}
			if r.IntN(4) == 0 {
				o.Fragments = []uint64{0, 4, 99}
			}
			schema, batches, err := scanWith(t, w.table(w.store), o, needs[r.IntN(3)])
			if err == nil {
				err = w.checkBatches(schema, batches, w.rowsOf(o))
			}
			if err != nil {
				t.Fatalf("world %d, %+v: %v", i, o, err)
			}
			for _, b := range batches {
				var bytes int64
				for _, c := range b.Columns() {
					bytes += column.SizeOf(c.Data())
				}
				if int(b.NumRows()) > o.BatchRows || b.NumRows() > 1 && bytes > o.BatchBytes {
					t.Fatalf("world %d, %+v: a batch of %d rows and %d bytes", i, o, b.NumRows(), bytes)
				}
			}
		}
	}
}

// No batch has rows of two fragments, and where nothing is in the way it is full.
func TestBatches(t *testing.T) {
	w := newWorld(t, 8)
	for i := range 3 {
		w.add(uint64(i), 25, 25, []int32{0})
	}
	for _, threads := range []int{1, 4} {
		_, batches, err := scanWith(t, w.table(w.store), Options{BatchRows: 10, Threads: threads}, "all")
		if err != nil {
			t.Fatal(err)
		}
		var rows []int64
		for _, b := range batches {
			rows = append(rows, b.NumRows())
		}
		if want := []int64{10, 10, 5, 10, 10, 5, 10, 10, 5}; !slices.Equal(rows, want) {
			t.Errorf("batches of %v rows, want %v", rows, want)
		}
	}
}

// Rows that need no column are counted without opening a data file.
func TestCountOpensNothing(t *testing.T) {
	w := newWorld(t, 8)
	f := w.add(3, 25, 25, []int32{0})
	w.add(4, 25, 25, []int32{0})
	w.delete(f, 3, 4, 5)
	fs := faultstore.New(w.store, faultstore.When(faultstore.On(faultstore.Before, faultstore.Open, table.DataDir), faultstore.Die()))
	o := Options{Columns: []string{}, RowAddress: true}
	schema, batches, err := scanWith(t, w.table(fs), o, "all")
	if err == nil {
		err = w.checkBatches(schema, batches, w.rowsOf(o))
	}
	if err != nil {
		t.Fatal(err)
	}
	o.RowAddress = false
	schema, batches, err = scanWith(t, w.table(fs), o, "all")
	if err != nil || schema.NumFields() != 0 {
		t.Fatalf("%d columns, error %v", schema.NumFields(), err)
	}
	var rows int64
	for _, b := range batches {
		rows += b.NumRows()
	}
	if rows != 47 {
		t.Errorf("%d rows, want 47", rows)
	}
}

// An offset and a limit open the fragments that hold the wanted rows, no others.
func TestFragmentsThatAreSkipped(t *testing.T) {
	w := newWorld(t, 8)
	for i := range uint64(20) {
		f := w.add(i, 10, 10, []int32{0})
		if i%2 == 1 {
			w.delete(f, 0, 9)
		}
	}
	limit := uint64(12)
	for _, tt := range []struct {
		offset uint64
		want   []string
	}{
		{0, []string{"0", "1"}},
		{9, []string{"0", "1", "2"}},
		{10, []string{"1", "2"}},
		{18, []string{"2", "3"}},
		{170, []string{"18", "19"}},
		{180, nil},
	} {
		fs := faultstore.New(w.store, func(faultstore.Call) faultstore.Action { return faultstore.Pass })
		o := Options{Offset: tt.offset, Limit: &limit}
		schema, batches, err := scanWith(t, w.table(fs), o, "all")
		if err == nil {
			err = w.checkBatches(schema, batches, w.rowsOf(o))
		}
		if err != nil {
			t.Fatal(err)
		}
		var opened []string
		for _, c := range fs.Calls() {
			if name, ok := strings.CutPrefix(c.Name, table.DataDir+"/f"); ok && c.Op == faultstore.Open {
				opened = append(opened, strings.TrimSuffix(name, "-0.lance"))
			}
		}
		slices.SortFunc(opened, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
		if !slices.Equal(opened, tt.want) {
			t.Errorf("offset %d: opened %v, want %v", tt.offset, opened, tt.want)
		}
	}
}

// A fragment whose entry does not say how many rows it has, or how many of them
// are deleted, is looked at.
func TestCountsThatAreMissing(t *testing.T) {
	w := newWorld(t, 8)
	for i := range uint64(3) {
		f := w.add(i, 10, 10, []int32{0})
		w.delete(f, 2, 3)
	}
	w.m.Fragments[1].DeletionFile.NumDeletedRows = 0
	real := w.rowsOf(Options{})
	w.m.Fragments[1].PhysicalRows, w.m.Fragments[2].PhysicalRows = 0, 0
	for _, offset := range []uint64{0, 9, 15, 17, 23} {
		limit := uint64(9)
		o := Options{Offset: offset, Limit: &limit}
		schema, batches, err := scanWith(t, w.table(w.store), o, "all")
		if err == nil {
			err = w.checkBatches(schema, batches, real[offset:min(int(offset+limit), len(real))])
		}
		if err != nil {
			t.Errorf("offset %d: %v", offset, err)
		}
	}
	schema, batches, err := scanWith(t, w.table(w.store), Options{Columns: []string{}, RowAddress: true}, "all")
	if err == nil {
		err = w.checkBatches(schema, batches, real)
	}
	if err != nil {
		t.Error(err)
	}
}

// A row larger than a batch comes alone; one larger than any batch may be is an error.
func TestLargeRows(t *testing.T) {
	w := newWorld(t, 8, 5000)
	w.add(0, 20, 7, []int32{0, 1})
	o := Options{BatchBytes: 4000}
	schema, batches, err := scanWith(t, w.table(w.store), o, "all")
	if err == nil {
		err = w.checkBatches(schema, batches, w.rowsOf(o))
	}
	if err != nil || len(batches) != 20 {
		t.Fatalf("%d batches, error %v", len(batches), err)
	}
	o.BatchBytes = 12000 * batchShare // of which each takes what two rows have in the file
	if _, batches, err = scanWith(t, w.table(w.store), o, "all"); err != nil || len(batches) != 10 {
		t.Fatalf("%d batches, error %v", len(batches), err)
	}
	big := newWorld(t, 8)
	big.add(0, 2, 2, []int32{0})
	s, err := openWith(t.Context(), big.table(big.store), Options{}, tooLarge)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := drain(t, s); !errors.Is(err, column.ErrLimit) {
		t.Errorf("error %v", err)
	}
}

func tooLarge(d *datafile.File, f column.Field) (column.Reader, error) {
	r, err := opener("all")(d, f)
	return limitless{r}, err
}

// limitless says of every row that it is too large.
type limitless struct{ column.Reader }

func (limitless) Read(context.Context, column.Source, uint64, uint64, int64) (arrow.Array, error) {
	return nil, column.ErrLimit
}

func TestColumnsThatAreNotThere(t *testing.T) {
	w := newWorld(t, 8)
	w.add(0, 5, 5, []int32{0})
	_, err := Open(t.Context(), w.table(w.store), Options{Columns: []string{"c0", "nope"}})
	if err == nil || !strings.Contains(err.Error(), `"nope"`) || !strings.Contains(err.Error(), w.store.String()) {
		t.Errorf("error %v", err)
	}
}

// After the end, and after an error, Next says the same again.
func TestEnds(t *testing.T) {
	w := newWorld(t, 8)
	w.add(0, 5, 5, []int32{0})
	s, err := openWith(t.Context(), w.table(w.store), Options{}, opener("all"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drain(t, s); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Next(t.Context()); err != io.EOF {
			t.Errorf("error %v", err)
		}
		s.Close()
	}
	w.m.Fragments[0].Files[0].FileSizeBytes++
	s, err = openWith(t.Context(), w.table(w.store), Options{}, opener("all"))
	if err != nil {
		t.Fatal(err)
	}
	_, first := s.Next(t.Context())
	_, second := s.Next(t.Context())
	s.Close()
	if first == nil || first != second || errors.Is(first, io.EOF) {
		t.Errorf("errors %v, %v", first, second)
	}
}

// Files and entries that contradict each other.
func TestContradictions(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(w *world, f *pb.DataFragment)
		want  error
		says  []string
	}{
		{"the size", func(_ *world, f *pb.DataFragment) { f.Files[0].FileSizeBytes++ }, errCorrupt, []string{"f7-0.lance", "bytes"}},
		{"the rows", func(_ *world, f *pb.DataFragment) { f.PhysicalRows = 6 }, errCorrupt, []string{"f7-0.lance", "5 rows", "says 6"}},
		{"the version", func(_ *world, f *pb.DataFragment) { f.Files[0].FileMinorVersion = 1 }, errCorrupt, []string{"f7-0.lance", "2.2", "2.1"}},
		{"a version of tomorrow", func(_ *world, f *pb.DataFragment) { f.Files[0].FileMinorVersion = 3 }, table.ErrRefused, []string{"f7-0.lance", "2.3"}},
		{"a column", func(_ *world, f *pb.DataFragment) { f.Files[0].ColumnIndices[1] = 2 }, errCorrupt, []string{"f7-0.lance", "c1", "column 2 of 2"}},
		{"a field twice", func(_ *world, f *pb.DataFragment) { f.Files[0].Fields[1] = 0 }, errCorrupt, []string{"f7-0.lance", "field 0"}},
		{"a file that is gone", func(_ *world, f *pb.DataFragment) { f.Files[0].Path = "gone.lance" }, nil, []string{"gone.lance"}},
		{"a deletion file that is gone", func(_ *world, f *pb.DataFragment) { f.DeletionFile = &pb.DeletionFile{Id: 9} }, nil, []string{"_deletions/7-0-9.arrow"}},
		{"the number of deleted rows", func(w *world, f *pb.DataFragment) { w.delete(f, 1); f.DeletionFile.NumDeletedRows = 2 }, table.ErrCorrupt, []string{"_deletions/7-1-7.arrow"}},
		{"a deleted row", func(w *world, f *pb.DataFragment) { w.delete(f, 5) }, table.ErrCorrupt, []string{"_deletions/7-1-7.arrow"}},
		{"a base that the manifest does not name", func(_ *world, f *pb.DataFragment) { f.Files[0].BaseId = new(uint32) }, table.ErrCorrupt, []string{"f7-0.lance", "base 0"}},
		{"a base out of reach", func(w *world, f *pb.DataFragment) {
			f.Files[0].BaseId = new(uint32)
			w.m.BasePaths = []*pb.BasePath{{Path: "s3://elsewhere"}}
		}, table.ErrRefused, []string{"f7-0.lance", "s3://elsewhere"}},
		{"deletions in a base out of reach", func(w *world, f *pb.DataFragment) {
			w.delete(f, 1)
			f.DeletionFile.BaseId = new(uint32)
			w.m.BasePaths = []*pb.BasePath{{Path: "s3://elsewhere"}}
		}, table.ErrRefused, []string{"_deletions/7-1-7.arrow", "s3://elsewhere"}},
		{"no row ids where they are wanted", func(w *world, f *pb.DataFragment) {
			f.RowIdSequence = &pb.DataFragment_InlineRowIds{InlineRowIds: []byte{}}
			w.m.ReaderFeatureFlags |= table.FlagStableRowIDs
		}, table.ErrCorrupt, []string{"row ids"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 8, 16)
			f := w.add(7, 5, 3, []int32{0, 1})
			tt.spoil(w, f)
			_, batches, err := scanWith(t, w.table(w.store), Options{RowID: true}, "all")
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || len(batches) > 0 {
				t.Fatalf("%d batches, error %v", len(batches), err)
			}
			for _, word := range append(tt.says, w.store.String(), "fragment 7") {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%v: does not say %q", err, word)
				}
			}
		})
	}
}

// An error is returned where its rows would be, after all rows before them.
func TestErrorsComeInOrder(t *testing.T) {
	w := newWorld(t, 8)
	for i := range uint64(12) {
		w.add(i, 10, 10, []int32{0})
	}
	for bad := range 12 {
		size := &w.m.Fragments[bad].Files[0].FileSizeBytes
		*size++
		_, batches, err := scanWith(t, w.table(w.store), Options{Threads: 3}, "all")
		*size--
		if !errors.Is(err, errCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("fragment %d:", bad)) || len(batches) != bad {
			t.Errorf("fragment %d: %d batches, error %v", bad, len(batches), err)
		}
	}
}

// A scan that nobody takes from can be closed, wherever it has come to.
func TestCloseWithoutNext(t *testing.T) {
	w := newWorld(t, 8)
	for i := range uint64(plannedTasks + 4) {
		w.add(i, 1, 1, []int32{0})
	}
	for bad := plannedTasks - 4; bad < plannedTasks+4; bad++ {
		size := &w.m.Fragments[bad].Files[0].FileSizeBytes
		*size++
		s, err := openWith(t.Context(), w.table(w.store), Options{Threads: 1}, opener("all"))
		*size--
		if err != nil {
			t.Fatal(err)
		}
		// Until all that fits is planned, or planning has ended.
		for len(s.order) < min(bad, plannedTasks) {
			runtime.Gosched()
		}
		s.Close()
	}
}
