package compact

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

func TestRuns(t *testing.T) {
	type spans = [][2]uint64 // position, size
	tests := []struct {
		name     string
		in, want spans
	}{
		{"none", nil, nil},
		{"one", spans{{0, 10}}, spans{{0, 10}}},
		{"one that is not aligned", spans{{70, 10}}, spans{{64, 16}}},
		{"neighbours", spans{{0, 64}, {64, 64}}, spans{{0, 128}}},
		{"in any order", spans{{64, 64}, {0, 64}}, spans{{0, 128}}},
		{"padding between", spans{{0, 10}, {64, 10}}, spans{{0, 74}}},
		{"a gap that is copied along", spans{{0, 64}, {64 + maxGap, 64}}, spans{{0, 128 + maxGap}}},
		{"a gap that is not", spans{{0, 64}, {128 + maxGap, 64}}, spans{{0, 64}, {128 + maxGap, 64}}},
		{"the same twice", spans{{64, 10}, {64, 10}}, spans{{64, 10}}},
		{"one inside the other", spans{{0, 1000}, {64, 10}}, spans{{0, 1000}}},
		{"overlapping", spans{{0, 100}, {64, 100}}, spans{{0, 164}}},
		{"in one line of the alignment", spans{{65, 5}, {80, 5}}, spans{{64, 21}}},
		{"far away", spans{{1 << 40, 7}, {0, 7}}, spans{{0, 7}, {1 << 40, 7}}},
	}
	for _, tt := range tests {
		var in []datafile.Span
		for _, x := range tt.in {
			in = append(in, datafile.Span{Pos: x[0], Size: x[1]})
		}
		var got spans
		for _, x := range runs(in) {
			got = append(got, [2]uint64{x.Pos, x.Size})
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var in []datafile.Span
		for range 1 + rng.IntN(12) {
			in = append(in, datafile.Span{Pos: uint64(rng.IntN(40_000)), Size: uint64(1 + rng.IntN(3000))})
		}
		out := runs(slices.Clone(in))
		var m moves
		to := uint64(rng.IntN(100)) * datafile.Alignment
		for i, r := range out {
			if r.Pos%datafile.Alignment != 0 || i > 0 && r.Pos <= out[i-1].Pos+out[i-1].Size {
				t.Errorf("runs of %v: %v", in, out)
			}
			m = append(m, move{r, to})
			to += (r.Size + datafile.Alignment - 1) / datafile.Alignment * datafile.Alignment
		}
		for _, s := range in {
			found := false
			for _, x := range m {
				if s.Pos >= x.from.Pos && s.Pos+s.Size <= x.from.Pos+x.from.Size {
					found = m.move(s.Pos, s.Size) == x.to+s.Pos-x.from.Pos
				}
			}
			if !found {
				t.Errorf("%v of %v goes to %d by %v", s, in, m.move(s.Pos, s.Size), m)
			}
			if m.move(s.Pos, s.Size)%datafile.Alignment != s.Pos%datafile.Alignment {
				t.Errorf("%v is less aligned at %d", s, m.move(s.Pos, s.Size))
			}
		}
		if m.move(77, 0) != 0 {
			t.Error("an empty buffer has a place")
		}
	}
}

func TestNewDataFileNames(t *testing.T) {
	seen := make(map[string]bool)
	for range 100 {
		n := newDataFile()
		if seen[n] || len(n) != 56 || strings.Trim(n[:24], "01") != "" || strings.Trim(n[24:50], "0123456789abcdef") != "" || n[50:] != ".lance" {
			t.Error(n)
		}
		seen[n] = true
	}
}

func TestSchemaOf(t *testing.T) {
	field := func(id, parent int32) *pb.Field { return &pb.Field{Id: id, ParentId: parent, Name: fmt.Sprint(id)} }
	// 0, 1{2, 3{4}}, 5{6}, 7
	fields := []*pb.Field{field(0, -1), field(1, -1), field(2, 1), field(3, 1), field(4, 3), field(5, -1), field(6, 5), field(7, -1)}
	tests := []struct {
		held string
		want string
	}{
		{"0", "0"}, {"0 7", "0 7"},
		{"2 4", "1 2 3 4"}, // leaves, as from 2.1 on: with what they are part of
		{"4", "1 3 4"},
		{"1 2 3 4", "1 2 3 4"}, // all of them, as in 2.0
		{"1", "1 2 3 4"},       // a packed struct: one column for all
		{"5", "5 6"},
		{"", ""},
		{"9", ""},
	}
	for _, tt := range tests {
		held := make(map[int32]bool)
		for _, x := range strings.Fields(tt.held) {
			var id int32
			fmt.Sscan(x, &id)
			held[id] = true
		}
		var got []string
		for _, f := range schemaOf(fields, held) {
			got = append(got, f.GetName())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.held, got, tt.want)
		}
	}
	// A schema that goes in circles ends all the same.
	schemaOf([]*pb.Field{field(0, 1), field(1, 0), field(2, 2)}, map[int32]bool{0: true, 2: true})
}

// message is an encoding message of one type.
func message(url string, value []byte) *pb.Encoding {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), url)
	b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), value)
	return &pb.Encoding{Location: &pb.Encoding_Direct_{Direct: &pb.Encoding_Direct{Encoding: b}}}
}

func oneField(n protowire.Number, content string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), content)
}

const (
	columnURL = "/lance.encodings.ColumnEncoding"
	layoutURL = "/lance.encodings21.PageLayout"
	arrayURL  = "/lance.encodings.ArrayEncoding"
)

func TestCopyable(t *testing.T) {
	values := message(columnURL, oneField(1, ""))
	column := func(pages ...*pb.Encoding) *pb.ColumnMetadata {
		c := &pb.ColumnMetadata{Encoding: values}
		for _, e := range pages {
			c.Pages = append(c.Pages, &pb.ColumnMetadata_Page{Encoding: e})
		}
		return c
	}
	indirect := &pb.Encoding{Location: &pb.Encoding_Indirect_{Indirect: &pb.Encoding_Indirect{}}}
	raw := func(b ...byte) *pb.Encoding {
		return &pb.Encoding{Location: &pb.Encoding_Direct_{Direct: &pb.Encoding_Direct{Encoding: b}}}
	}
	for name, c := range map[string]*pb.ColumnMetadata{
		"no page":        column(),
		"mini-block":     column(message(layoutURL, oneField(1, "x"))),
		"constant":       column(message(layoutURL, oneField(2, "x"))),
		"full-zip":       column(message(layoutURL, oneField(3, "x"))),
		"array of 2.0":   column(message(arrayURL, oneField(5, ""))),
		"another prefix": column(message("type.googleapis.com/lance.encodings21.PageLayout", oneField(1, ""))),
	} {
		if err := copyable(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	blob := column()
	blob.Encoding = message(columnURL, oneField(3, ""))
	buffers := column()
	buffers.BufferOffsets, buffers.BufferSizes = []uint64{0}, []uint64{1}
	nothing := column()
	nothing.Encoding = nil
	for name, c := range map[string]*pb.ColumnMetadata{
		"blob column":        blob,
		"buffers of its own": buffers,
		"no encoding":        nothing,
		"blob layout":        column(message(layoutURL, oneField(4, ""))),
		"sparse layout":      column(message(layoutURL, oneField(5, ""))),
		"layout of tomorrow": column(message(layoutURL, oneField(99, ""))),
		"empty layout":       column(message(layoutURL, nil)),
		"two layouts":        column(message(layoutURL, append(oneField(1, ""), oneField(2, "")...))),
		"unknown type":       column(message("/lance.encodings30.PageLayout2", oneField(1, ""))),
		"not inline":         column(indirect),
		"none":               column(&pb.Encoding{}),
		"no message":         column(raw(0xff, 0xff)),
		"half a message":     column(raw(0x0a, 50, 'x')),
		"another field":      column(raw(0x08, 1)),
	} {
		if err := copyable(c); !errors.Is(err, errUncopyable) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for url, want := range map[string]string{"": "", "x": "x", "/a.b.C": "C", "t/a.C": "C", "a.": ""} {
		if got := typeName(url); got != want {
			t.Errorf("type of %q: %q", url, got)
		}
	}
}

func TestPagesInOrder(t *testing.T) {
	header := message(arrayURL, oneField(5, ""))
	nulls := message(arrayURL, oneField(8, ""))
	page := func(e *pb.Encoding, n uint64, buffers ...uint64) *pb.ColumnMetadata_Page {
		return &pb.ColumnMetadata_Page{Encoding: e, Length: n, BufferOffsets: buffers, BufferSizes: buffers}
	}
	for _, tt := range []struct {
		name  string
		pages []*pb.ColumnMetadata_Page
		want  string
	}{
		{"struct headers become one", []*pb.ColumnMetadata_Page{page(header, 3), page(header, 4), page(header, 5)}, "[12]"},
		{"pages of nulls stay", []*pb.ColumnMetadata_Page{page(nulls, 3), page(nulls, 4)}, "[3 4]"},
		{"pages with buffers stay", []*pb.ColumnMetadata_Page{page(header, 3, 0), page(header, 4, 0)}, "[3 4]"},
		{"and those of others", []*pb.ColumnMetadata_Page{page(message("what", nil), 3), page(message("what", nil), 4)}, "[3 4]"},
	} {
		o := &output{columns: []*outColumn{new(outColumn)}}
		for i, p := range slices.Backward(tt.pages) {
			o.place(0, uint64(i), proto.CloneOf(p))
		}
		var got []uint64
		for _, p := range o.metadata()[0].GetPages() {
			got = append(got, p.GetLength())
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: pages of %v", tt.name, got)
		}
	}
}

// What a data file says is held against what the manifest says, and whatever the
// two say, nothing panics.
func TestSourceChecks(t *testing.T) {
	s := copyAt(t, "branched", 2)
	base := open(t, s)
	frag := base.Fragments()[0]
	columns := len(frag.GetFiles()[0].GetFields())
	tests := []struct {
		name  string
		alter func(f *pb.DataFragment, d *pb.DataFile)
		want  error
		says  string
	}{
		{"as it is", func(*pb.DataFragment, *pb.DataFile) {}, nil, ""},
		{"no size given", func(_ *pb.DataFragment, d *pb.DataFile) { d.FileSizeBytes = 0 }, nil, ""},
		{"another size", func(_ *pb.DataFragment, d *pb.DataFile) { d.FileSizeBytes++ }, datafile.ErrCorrupt, "bytes"},
		{"other rows", func(f *pb.DataFragment, _ *pb.DataFile) { f.PhysicalRows++ }, datafile.ErrCorrupt, "rows"},
		{"a column that is not there", func(_ *pb.DataFragment, d *pb.DataFile) { d.ColumnIndices[0] = int32(columns) }, datafile.ErrCorrupt, "column"},
		{"a column below 0", func(_ *pb.DataFragment, d *pb.DataFile) { d.ColumnIndices[0] = -1 }, datafile.ErrCorrupt, "column"},
		{"one column for two fields", func(_ *pb.DataFragment, d *pb.DataFile) { d.ColumnIndices[1] = d.ColumnIndices[0] }, datafile.ErrCorrupt, "column"},
		{"no columns at all", func(_ *pb.DataFragment, d *pb.DataFile) { d.ColumnIndices = nil }, datafile.ErrCorrupt, "column"},
		{"a column without a field", func(_ *pb.DataFragment, d *pb.DataFile) {
			d.Fields, d.ColumnIndices = d.Fields[:columns-1], d.ColumnIndices[:columns-1]
		}, errUncopyable, "columns"},
	}
	for _, tt := range tests {
		f := proto.CloneOf(frag)
		d := f.GetFiles()[0]
		tt.alter(f, d)
		src, err := openSource(t.Context(), base, f, d, shapeOf(base), datafile.Open)
		if err == nil {
			src.Close()
			err = src.why
			if err != nil {
				err = fmt.Errorf("%s: %w", d.GetPath(), err)
			}
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if tt.want != nil {
			says(t, err.Error(), d.GetPath(), tt.says)
		}
	}
	// A file with a second global buffer, whatever that holds.
	name := "data/two.lance"
	two := proto.CloneOf(frag)
	two.Files[0].Path, two.Files[0].FileSizeBytes = "two.lance", 0
	raw, err := readAll(t, s, table.DataName(frag.GetFiles()[0]))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(t.Context(), name, withGlobalBuffer(raw)); err != nil {
		t.Fatal(err)
	}
	if src, err := openSource(t.Context(), base, two, two.Files[0], shapeOf(base), datafile.Open); err != nil || !errors.Is(src.why, errUncopyable) {
		t.Errorf("two global buffers: %v, error %v", src, err)
	} else {
		says(t, src.why.Error(), "2 global buffers")
		src.Close()
	}
	if !bytes.Contains(raw, []byte("LANC")) {
		t.Error("no data file")
	}
}
