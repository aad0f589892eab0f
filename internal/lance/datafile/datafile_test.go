package datafile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// bytesReader is an object in memory.
type bytesReader struct {
	b     []byte
	reads int
	read  int64
}

func (r *bytesReader) Entry() objects.Entry { return objects.Entry{Name: name, Size: int64(len(r.b))} }
func (r *bytesReader) Close() error         { return nil }

func (r *bytesReader) ReadAt(_ context.Context, p []byte, off int64) error {
	r.reads++
	r.read += int64(len(p))
	if n, _ := bytes.NewReader(r.b).ReadAt(p, off); n < len(p) {
		return objects.ErrShort
	}
	return nil
}

func (r *bytesReader) Open(context.Context, string) (objects.Reader, error) { return r, nil }

// memory is a store of one object that can only be opened.
type memory struct {
	objects.Store
	*bytesReader
}

func (m memory) Open(context.Context, string) (objects.Reader, error) { return m.bytesReader, nil }

func openBytes(tb testing.TB, b []byte) (*File, error) {
	tb.Helper()
	return Open(context.Background(), memory{bytesReader: &bytesReader{b: b}}, name)
}

func TestOpenFixtures(t *testing.T) {
	versions := make(map[[2]uint32]int)
	for file, b := range dataFiles(t) {
		r := &bytesReader{b: b}
		f, err := Open(t.Context(), memory{bytesReader: r}, name)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		versions[[2]uint32{f.Major, f.Minor}]++
		if r.reads > 2 {
			t.Errorf("%s, %d bytes: opened with %d reads", file, len(b), r.reads)
		}
		if f.Descriptor.GetLength() == 0 || len(f.Descriptor.GetSchema().GetFields()) == 0 || len(f.Columns) == 0 {
			t.Errorf("%s: %d rows, %d columns, schema of %d fields", file, f.Descriptor.GetLength(), len(f.Columns), len(f.Descriptor.GetSchema().GetFields()))
		}
		for i, c := range f.Columns {
			for j, p := range c.GetPages() {
				for k, off := range p.GetBufferOffsets() {
					if p.GetBufferSizes()[k] > 0 && off%Alignment != 0 {
						t.Errorf("%s, column %d, page %d: buffer %d at %d", file, i, j, k, off)
					}
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("versions in footers: %v", versions)
	for _, v := range [][2]uint32{{0, 3}, {2, 1}, {2, 2}} {
		if versions[v] == 0 {
			t.Errorf("testdata has no data file of version %v", v)
		}
	}
}

// full asks for the long versions of tests.
var full = os.Getenv("SEAWEED_LANCE_FULL") != ""

// Every strict prefix of a data file fails, and the error names the file.
func TestOpenPrefix(t *testing.T) {
	for file, b := range dataFiles(t) {
		if len(b) > 1<<20 {
			continue
		}
		for n := range b {
			// The end is where the format lies; of the rest some places will do.
			if !full && n < len(b)-100 && n%211 != 0 {
				continue
			}
			_, err := openBytes(t, b[:n])
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s, first %d of %d bytes: error %v", file, n, len(b), err)
			}
			if !strings.Contains(err.Error(), name) {
				t.Fatalf("%s, first %d bytes: %q does not name the file", file, n, err)
			}
		}
	}
}

// footer of a data file, taken apart.
type footer struct {
	Meta, Columns, Buffers uint64
	NumBuffers, NumColumns uint32
	Major, Minor           uint16
	Magic                  [4]byte
}

func footerOf(tb testing.TB, b []byte) (f footer) {
	tb.Helper()
	if err := binary.Read(bytes.NewReader(b[len(b)-footerSize:]), binary.LittleEndian, &f); err != nil {
		tb.Fatal(err)
	}
	return f
}

func withFooter(tb testing.TB, b []byte, f footer) []byte {
	tb.Helper()
	b, err := binary.Append(bytes.Clone(b[:len(b)-footerSize]), binary.LittleEndian, f)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// small returns some data file of testdata.
func small(tb testing.TB) []byte {
	tb.Helper()
	var best []byte
	for _, b := range dataFiles(tb) {
		if best == nil || len(b) < len(best) {
			best = b
		}
	}
	return best
}

func TestHostileFooters(t *testing.T) {
	b := small(t)
	size := uint64(len(b))
	numbers := []uint64{0, 1, size / 2, size - footerSize, size - footerSize + 1, size, size + 1, 1 << 32, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - footerSize, 1<<64 - 16, 1<<64 - 1}
	counts := []uint32{0, 1, 1 << 10, 1 << 16, 1 << 28, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	real := footerOf(t, b)
	try := func(what string, n any, f footer) {
		t.Helper()
		if f == real {
			return
		}
		c := withFooter(t, b, f)
		allocated(t, len(c), func() {
			if _, err := openBytes(t, c); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s %v: error %v", what, n, err)
			}
		})
	}
	for _, n := range numbers {
		f := real
		f.Meta = n
		try("metadata at", n, f)
		f = real
		f.Columns = n
		try("column table at", n, f)
		f = real
		f.Buffers = n
		try("buffer table at", n, f)
		f.Meta, f.Columns = n, n
		try("everything at", n, f)
	}
	for _, n := range counts {
		f := real
		f.NumColumns = n
		try("columns", n, f)
		f = real
		f.NumBuffers = n
		try("buffers", n, f)
		f.NumColumns = n
		try("both", n, f)
	}
	f := real
	f.NumBuffers = 0
	if _, err := openBytes(t, withFooter(t, b, f)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("no global buffer: error %v", err)
	}
	f = real
	f.Magic = [4]byte{'P', 'A', 'R', '1'}
	if _, err := openBytes(t, withFooter(t, b, f)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "PAR1") {
		t.Errorf("another format: error %v", err)
	}
}

// Entries of the tables inside the file, and of pages, that lead outside.
func TestHostileTables(t *testing.T) {
	b := small(t)
	f := footerOf(t, b)
	for what, at := range map[string]uint64{"column table": f.Columns, "buffer table": f.Buffers} {
		for _, field := range []uint64{0, 8} {
			for _, n := range []uint64{uint64(len(b)), uint64(len(b)) + 1, 1 << 40, 1 << 63, 1<<64 - 1} {
				c := bytes.Clone(b)
				binary.LittleEndian.PutUint64(c[at+field:], n)
				if _, err := openBytes(t, c); !errors.Is(err, ErrCorrupt) {
					t.Errorf("%s, field %d is %d: error %v", what, field, n, err)
				}
			}
		}
	}
	end := uint64(64)
	for name, c := range map[string]*pb.ColumnMetadata{
		"page beyond the data":       {Pages: []*pb.ColumnMetadata_Page{{BufferOffsets: []uint64{0}, BufferSizes: []uint64{1 << 20}}}},
		"page of 2^64 bytes":         {Pages: []*pb.ColumnMetadata_Page{{BufferOffsets: []uint64{1}, BufferSizes: []uint64{1<<64 - 1}}}},
		"page at 2^64":               {Pages: []*pb.ColumnMetadata_Page{{BufferOffsets: []uint64{1<<64 - 1}, BufferSizes: []uint64{1}}}},
		"more positions than sizes":  {Pages: []*pb.ColumnMetadata_Page{{BufferOffsets: []uint64{0, 0}, BufferSizes: []uint64{1}}}},
		"more sizes than positions":  {Pages: []*pb.ColumnMetadata_Page{{BufferSizes: []uint64{1}}}},
		"column buffer beyond":       {BufferOffsets: []uint64{end}, BufferSizes: []uint64{1 << 20}},
		"column buffer without size": {BufferOffsets: []uint64{0}},
	} {
		b := build(t, make([]byte, end), c)
		if _, err := openBytes(t, b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		} else if !strings.Contains(err.Error(), "column 0") {
			t.Errorf("%s: %q does not name the column", name, err)
		}
	}
}

// build writes a data file with this package's own writer.
func build(tb testing.TB, data []byte, columns ...*pb.ColumnMetadata) []byte {
	tb.Helper()
	s := put(tb, []byte("x"))
	w, err := s.Create(context.Background(), "data/built.lance")
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Abort()
	dw := NewWriter(w, nil)
	if err := dw.write(data); err != nil {
		tb.Fatal(err)
	}
	if _, err := dw.Finish(context.Background(), 2, 1, &pb.FileDescriptor{Length: 1, Schema: &pb.Schema{}}, columns); err != nil {
		tb.Fatal(err)
	}
	b, _, err := objects.ReadAll(context.Background(), s, "data/built.lance", 1<<30)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// Many columns whose metadata is one and the same large message: decoded for
// each of them, a small file would fill the memory.
func TestSharedMetadata(t *testing.T) {
	big := &pb.ColumnMetadata{}
	for range 5000 {
		big.Pages = append(big.Pages, &pb.ColumnMetadata_Page{Length: 1})
	}
	b := build(t, nil, big)
	f := footerOf(t, b)
	entry := bytes.Clone(b[f.Columns:][:tableEntry])
	buffers := bytes.Clone(b[f.Buffers:][:tableEntry])
	const columns = 2000
	c := bytes.Clone(b[:f.Columns])
	for range columns {
		c = append(c, entry...)
	}
	f.Buffers = uint64(len(c))
	f.NumColumns = columns
	c = append(c, buffers...)
	c = withFooter(t, append(c, make([]byte, footerSize)...), f)
	allocated(t, len(c), func() {
		if _, err := openBytes(t, c); !errors.Is(err, ErrCorrupt) {
			t.Errorf("error %v", err)
		}
	})
}

// The descriptor far away from the end, and metadata larger than the first read.
func TestOpenLargeMetadata(t *testing.T) {
	var columns []*pb.ColumnMetadata
	for i := range 3000 {
		c := &pb.ColumnMetadata{}
		for range 8 {
			c.Pages = append(c.Pages, &pb.ColumnMetadata_Page{Length: uint64(i), BufferOffsets: []uint64{0}, BufferSizes: []uint64{64}})
		}
		columns = append(columns, c)
	}
	b := build(t, make([]byte, 1000), columns...)
	if len(b) < 2*tailRead {
		t.Fatalf("only %d bytes", len(b))
	}
	r := &bytesReader{b: b}
	f, err := Open(t.Context(), memory{bytesReader: r}, name)
	if err != nil {
		t.Fatal(err)
	}
	if r.reads > 3 {
		t.Errorf("%d reads", r.reads)
	}
	for i, c := range f.Columns {
		if !proto.Equal(c, columns[i]) {
			t.Fatalf("column %d is %v", i, c)
		}
	}
}

func TestOpenStoreFails(t *testing.T) {
	s := put(t, small(t))
	boom := errors.New("boom")
	for _, op := range []faultstore.Op{faultstore.Open, faultstore.Read} {
		_, err := Open(t.Context(), faultstore.New(s, faultstore.When(faultstore.On(faultstore.Before, op, ""), faultstore.Fail(boom))), name)
		if !errors.Is(err, boom) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%s fails: error %v", op, err)
		}
	}
	if _, err := Open(t.Context(), s, "data/other.lance"); !errors.Is(err, objects.ErrNotFound) || !strings.Contains(err.Error(), "other.lance") {
		t.Errorf("no such file: error %v", err)
	}
}

// What the writer makes of copied pages the reader finds again, wherever the
// bytes went through.
func TestWriter(t *testing.T) {
	src := make([]byte, 100_000)
	rand.NewChaCha8([32]byte{1}).Read(src)
	for what, buf := range map[string][]byte{"no buffer": nil, "a small buffer": make([]byte, 100)} {
		s := put(t, src)
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, kernel := range []bool{false, true} {
			object := "data/out.lance"
			w, err := s.Create(t.Context(), object)
			if err != nil {
				t.Fatal(err)
			}
			var ow objects.Writer = w
			if !kernel {
				ow = plain{w}
			}
			dw := NewWriter(ow, buf)
			spans := []Span{{0, 1}, {1, 63}, {1000, 0}, {64, 64}, {99_999, 1}, {7, 70_000}}
			c := &pb.ColumnMetadata{Pages: []*pb.ColumnMetadata_Page{{Length: 9}}}
			for _, x := range spans {
				pos, err := dw.Copy(t.Context(), r, x)
				if err != nil {
					t.Fatal(err)
				}
				if pos%Alignment != 0 || dw.Pos() != pos+x.Size {
					t.Errorf("%v went to %d, the writer is at %d", x, pos, dw.Pos())
				}
				c.Pages[0].BufferOffsets = append(c.Pages[0].BufferOffsets, pos)
				c.Pages[0].BufferSizes = append(c.Pages[0].BufferSizes, x.Size)
			}
			d := &pb.FileDescriptor{Length: 9, Schema: &pb.Schema{Fields: []*pb.Field{{Name: "ä"}}}}
			e, err := dw.Finish(t.Context(), 2, 2, d, []*pb.ColumnMetadata{c, {}})
			if err != nil {
				t.Fatal(err)
			}
			f, err := Open(t.Context(), s, object)
			if err != nil {
				t.Fatal(err)
			}
			if f.Reader.Entry().Size != e.Size || f.Major != 2 || f.Minor != 2 || !proto.Equal(f.Descriptor, d) || len(f.Columns) != 2 || !proto.Equal(f.Columns[0], c) {
				t.Errorf("%s: read again: %d.%d, %v, %v", what, f.Major, f.Minor, f.Descriptor, f.Columns)
			}
			for i, x := range spans {
				p := make([]byte, x.Size)
				if err := f.Reader.ReadAt(t.Context(), p, int64(f.Columns[0].Pages[0].BufferOffsets[i])); err != nil || !bytes.Equal(p, src[x.Pos:][:x.Size]) {
					t.Errorf("%s: bytes of %v differ (%v)", what, x, err)
				}
			}
			f.Close()
			if err := s.Delete(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// plain hides what else a writer can do.
type plain struct{ objects.Writer }

// The writer fails when what is below it does.
func TestWriterFails(t *testing.T) {
	inner := put(t, make([]byte, 1000))
	boom := errors.New("boom")
	for _, op := range []faultstore.Op{faultstore.Read, faultstore.Write, faultstore.Copy, faultstore.Finish} {
		s := faultstore.New(inner, faultstore.When(faultstore.On(faultstore.Before, op, ""), faultstore.Fail(boom)))
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Create(t.Context(), "data/new.lance")
		if err != nil {
			t.Fatal(err)
		}
		dw := NewWriter(w, nil)
		_, err = dw.Copy(t.Context(), r, Span{0, 100})
		if err == nil {
			_, err = dw.Finish(t.Context(), 2, 1, &pb.FileDescriptor{}, nil)
		}
		w.Abort()
		r.Close()
		if op == faultstore.Read && err == nil { // the store copied by itself
			if err := inner.Delete(t.Context(), "data/new.lance"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !errors.Is(err, boom) {
			t.Errorf("%s fails: error %v", op, err)
		}
		if _, err := inner.Open(t.Context(), "data/new.lance"); !errors.Is(err, objects.ErrNotFound) {
			t.Errorf("%s fails: the object is there (%v)", op, err)
		}
	}
	r, err := inner.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := inner.Create(t.Context(), "data/short.lance")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := NewWriter(w, nil).Copy(t.Context(), r, Span{900, 200}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a range beyond the end: error %v", err)
	}
}

// allocated fails the test when f allocates more than a multiple of what it was given.
func allocated(t *testing.T, given int, f func()) {
	t.Helper()
	const fixed, factor = 1 << 20, 400
	before := heap()
	f()
	if n := heap() - before; n > fixed+factor*uint64(given) {
		t.Errorf("%d bytes were allocated for a file of %d", n, given)
	}
}

func heap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func FuzzOpen(f *testing.F) {
	for _, b := range dataFiles(f) {
		if len(b) < 20_000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		allocated(t, len(b), func() {
			x, err := openBytes(t, b)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("error %v", err)
				}
				return
			}
			// What Open promises.
			for i, c := range x.Columns {
				for _, p := range c.GetPages() {
					if len(p.GetBufferOffsets()) != len(p.GetBufferSizes()) {
						t.Errorf("column %d: %d positions, %d sizes", i, len(p.GetBufferOffsets()), len(p.GetBufferSizes()))
					}
					for k, off := range p.GetBufferOffsets() {
						if n := p.GetBufferSizes()[k]; off+n < off || off+n > uint64(len(b)) {
							t.Errorf("column %d: buffer at %d of %d bytes in a file of %d", i, off, n, len(b))
						}
					}
				}
			}
			for _, g := range x.GlobalBuffers {
				if g.Pos+g.Size < g.Pos || g.Pos+g.Size > uint64(len(b)) {
					t.Errorf("global buffer %v in a file of %d", g, len(b))
				}
			}
		})
	})
}
