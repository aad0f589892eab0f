package layout

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// sample is a page of a real file, alone in a file of its own.
type sample struct {
	field    column.Field // with this one leaf
	version  uint32
	rows     uint64
	length   uint64
	encoding []byte
	sizes    []uint64
	data     []byte // the buffers, one behind the other
}

// only makes all leaves of a field absent but for one column, which becomes column 0.
func only(f column.Field, at int) (column.Field, bool) {
	if isLeaf(f) {
		has := f.Column == at
		f.Column = column.Absent
		if has {
			f.Column = 0
		}
		return f, has
	}
	any := false
	children := make([]column.Field, len(f.Children))
	for i, c := range f.Children {
		var has bool
		children[i], has = only(c, at)
		any = any || has
	}
	f.Children = children
	if _, ok := f.Type.(*arrow.MapType); ok && children[0].Children[0].Column == column.Absent {
		// Values without keys are no map.
		e := &children[0]
		e.Children = e.Children[1:]
		e.Type = arrow.StructOf(arrow.Field{Name: "value", Type: e.Children[0].Type, Nullable: true})
		f.Type = arrow.ListOfField(arrow.Field{Name: "entries", Type: e.Type})
	}
	return f, any
}

// samples are all small pages of the files in testdata.
func samples(t testing.TB) []sample {
	var out []sample
	for _, rf := range realFiles(t) {
		data, err := os.ReadFile(filepath.Join(realDir(), rf.name))
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for _, f := range rf.want.Schema().Fields() {
			first := next
			field := fieldOf(f, &next)
			for c := first; c < next; c++ {
				alone, _ := only(field, c)
				r, err := Open(rf.file, field)
				if err != nil {
					t.Fatal(err)
				}
				stride := r.(*reader).leaves[c-first].stride
				for _, p := range rf.file.Columns[c].GetPages() {
					s := sample{field: alone, version: rf.file.Minor, rows: p.GetLength() / stride, length: p.GetLength(),
						encoding: p.GetEncoding().GetDirect().GetEncoding(), sizes: p.GetBufferSizes()}
					for i, o := range p.GetBufferOffsets() {
						s.data = append(s.data, data[o:o+p.GetBufferSizes()[i]]...)
					}
					if len(s.data) <= 16<<10 {
						out = append(out, s)
					}
				}
			}
		}
	}
	return out
}

// stride is how many of a page's slots make up a row.
func (s sample) stride() uint64 { return max(s.length/max(s.rows, 1), 1) }

// broken is a page with something wrong in it. Where that is its number of rows, there are least or more, and fewer than a power of two.
func (s sample) broken(rnd *rand.Rand, least uint64, power int) sample {
	stride := s.stride()
	s.data, s.encoding, s.sizes = bytes.Clone(s.data), bytes.Clone(s.encoding), slices.Clone(s.sizes)
	switch kind := rnd.IntN(5); {
	case kind == 0 && len(s.data) > 0:
		s.data = s.data[:rnd.IntN(len(s.data))]
	case kind == 1 && len(s.sizes) > 0:
		s.sizes[rnd.IntN(len(s.sizes))] = rnd.Uint64N(20000)
	case kind == 2:
		s.encoding[rnd.IntN(len(s.encoding))] ^= 1 << rnd.IntN(8)
	case kind == 3:
		s.rows = least + rnd.Uint64N(1<<rnd.IntN(power))
		s.length = s.rows * stride
	case len(s.data) > 0:
		for range 1 + rnd.IntN(3) {
			s.data[rnd.IntN(len(s.data))] ^= 1 << rnd.IntN(8)
		}
	}
	return s
}

// seeds are some small pages for fuzzing to begin with, each with its number and the sizes of its buffers as bytes.
func seeds(all []sample, add func(i int, s sample, sizes []byte)) {
	for i, s := range all {
		if i%7 != 0 || len(s.data) > 4<<10 {
			continue
		}
		var sizes []byte
		for _, n := range s.sizes {
			sizes = binary.LittleEndian.AppendUint32(sizes, uint32(n))
		}
		add(i, s, sizes)
	}
}

// fuzzed is a page with other content.
func (s sample) fuzzed(length uint64, encoding, sizes, data []byte) sample {
	s.length, s.rows = length, length/s.stride()
	s.encoding, s.data, s.sizes = encoding, data, nil
	for ; len(sizes) >= 4 && len(s.sizes) < 8; sizes = sizes[4:] {
		s.sizes = append(s.sizes, uint64(binary.LittleEndian.Uint32(sizes)))
	}
	return s
}

// brokenLimit is the limit of reads of broken pages.
const brokenLimit = 8 << 20

// try reads rows of a page, and complains about all but good values and the errors that a
// file can cause.
func (s sample) try(t testing.TB, from, to uint64) error {
	t.Helper()
	p := &pb.ColumnMetadata_Page{Length: s.length, Encoding: &pb.Encoding{Location: &pb.Encoding_Direct_{Direct: &pb.Encoding_Direct{Encoding: s.encoding}}}}
	at, end := uint64(0), uint64(len(s.data))
	for _, n := range s.sizes {
		n = min(n, end-at) // the container has made sure of that
		p.BufferOffsets, p.BufferSizes = append(p.BufferOffsets, at), append(p.BufferSizes, n)
		at += n
	}
	f := &datafile.File{Major: 2, Minor: s.version, Descriptor: &pb.FileDescriptor{Length: s.rows},
		Columns: []*pb.ColumnMetadata{{Pages: []*pb.ColumnMetadata_Page{p}}}, DataEnd: end}
	known := func(err error) error {
		if !errors.Is(err, column.ErrCorrupt) && !errors.Is(err, column.ErrUnsupported) && !errors.Is(err, column.ErrLimit) {
			t.Fatalf("an error of no kind: %v", err)
		}
		return err
	}
	r, err := Open(f, s.field)
	if err != nil {
		return known(err)
	}
	r.Pages()
	for _, sp := range r.Need(from, to) {
		if sp.Pos > end || sp.Size > end-sp.Pos {
			t.Fatalf("%d bytes at %d are needed, the file has %d", sp.Size, sp.Pos, end)
		}
	}
	a, err := r.Read(t.Context(), checkedSource(s.data), from, to, brokenLimit)
	if err != nil {
		return known(err)
	}
	defer a.Release()
	if uint64(a.Len()) != to-from || sizeOf(a) > brokenLimit {
		t.Fatalf("%d rows of %d bytes, should be %d of at most %d", a.Len(), sizeOf(a), to-from, brokenLimit)
	}
	for i := range a.Len() {
		render(nil, a, i)
	}
	return nil
}

// checkedSource refuses what lies outside of the file, as a test that finds it must fail.
type checkedSource []byte

func (s checkedSource) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	for _, sp := range spans {
		if sp.Pos > uint64(len(s)) || sp.Size > uint64(len(s))-sp.Pos {
			return nil, errors.New("bytes outside of the file")
		}
	}
	return memorySource(s).Fetch(ctx, spans)
}

// Pages with bits flipped, cut short, and with numbers of their layouts changed.
func TestBrokenPages(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	taken, refused := 0, 0
	for _, s := range samples(t) {
		if err := s.try(t, 0, s.rows); err != nil {
			t.Fatalf("%s: %v", s.field.Name, err)
		}
		for range rounds {
			b := s.broken(rnd, 0, 30)
			from := rnd.Uint64N(b.rows + 1)
			if b.try(t, from, from+rnd.Uint64N(b.rows-from+1)) != nil {
				refused++
			} else {
				taken++
			}
		}
	}
	t.Logf("%d reads gave values, %d errors", taken, refused)
}

func FuzzPage(f *testing.F) {
	all := samples(f)
	seeds(all, func(i int, s sample, sizes []byte) {
		f.Add(uint16(i), uint32(s.length), uint32(0), uint32(s.rows), s.encoding, sizes, s.data)
	})
	f.Fuzz(func(t *testing.T, which uint16, length, from, to uint32, encoding, sizes, data []byte) {
		s := all[int(which)%len(all)].fuzzed(uint64(length), encoding, sizes, data)
		a := min(uint64(from), s.rows)
		s.try(t, a, max(a, min(uint64(to), s.rows)))
	})
}
