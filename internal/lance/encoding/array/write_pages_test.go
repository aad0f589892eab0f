package array

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// TestBlobDescriptors writes descriptors of bytes that are in the file already.
func TestBlobDescriptors(t *testing.T) {
	fx := readFixture(t, "14.0.2", "vectors")
	f, _ := fieldOf(t, fx, "blob")
	a := readRows(t, fx, f, 0, 110)
	var s sink
	s.add(t, f, 300, a)
	raw := s.file(t, 110)
	r, err := Open(openBytes(t, raw), f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Read(t.Context(), &source{b: raw}, 0, 110, enough)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "descriptors", got, cells(a))
}

// TestPageBorders ends pages with the value that fills them, whatever the arrays are.
func TestPageBorders(t *testing.T) {
	var s sink
	w, err := NewWriter(field("l", arrow.ListOf(arrow.PrimitiveTypes.Int64)), &s, column.WriteOptions{PageBytes: 80})
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64)
	for i := range 25 { // one item, then three, …
		b.Append(true)
		for j := range i%2*2 + 1 {
			b.ValueBuilder().(*array.Int64Builder).Append(int64(j))
		}
	}
	a := b.NewArray()
	for _, n := range [][2]int{{0, 1}, {1, 9}, {9, 9}, {9, 24}, {24, 25}} {
		if err := w.Append(a, n[0], n[1]); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.Held(); n < 5*8+9*8 || n > 200 {
		t.Errorf("%d bytes held", n)
	}
	if err := w.Skip(3); err == nil {
		t.Error("rows are skipped, others are held")
	}
	w, _ = NewWriter(field("l", a.DataType()), &s, column.WriteOptions{PageBytes: 80})
	if err := w.Skip(3); err != nil {
		t.Error(err)
	}
	var got [2][]uint64
	for c := range got {
		for _, p := range s.spec.columns[c].pages {
			got[c] = append(got[c], p.rows)
		}
	}
	// 10 lists have 20 items, which are two pages, the second of which is full as the lists are.
	if fmt.Sprint(got) != "[[10 10] [10 10 10 10]]" {
		t.Errorf("pages of %v rows", got)
	}
}

// TestFolds goes on with a page whose values take next to nothing, until one comes that does not.
func TestFolds(t *testing.T) {
	text := func(from, to, different int) arrow.Array {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for i := from; i < to; i++ {
			if i%10 == 9 {
				b.AppendNull()
				continue
			}
			b.Append(fmt.Sprintf("a string of some length, number %d", i%different))
		}
		return b.NewArray()
	}
	nulls := func(typ arrow.DataType, n int) arrow.Array {
		var z column.Zeros
		d, err := z.Nulls(typ, n, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return array.MakeFromData(d)
	}
	vec := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)
	some := array.MakeFromData(array.NewData(vec, 3, []*memory.Buffer{nil}, []arrow.ArrayData{integers(arrow.PrimitiveTypes.Float32, make([]uint64, 6), nil).Data()}, 0, 0))
	for name, c := range map[string]struct {
		arrays []arrow.Array
		pages  []uint64
	}{
		// 8000 bytes are 1000 rows of keys. The first value too many begins a page, in which the rest is.
		"strings": {[]arrow.Array{text(0, 1500, 30), text(1500, 1700, 50), text(1700, 1800, 2000)}, []uint64{1000, 760, 40}},
		"nulls":   {[]arrow.Array{nulls(vec, 3000), nulls(vec, 2500), some, nulls(vec, 5)}, []uint64{5500, 8}},
		"null":    {[]arrow.Array{nulls(arrow.Null, 3000), nulls(arrow.Null, 2500)}, []uint64{5500}},
	} {
		t.Run(name, func(t *testing.T) {
			var s sink
			f := field("x", c.arrays[0].DataType())
			s.add(t, f, 8000, c.arrays...)
			var want []string
			var pages []uint64
			for _, p := range s.spec.columns[0].pages {
				pages = append(pages, p.rows)
				t.Log(p.rows, describe(p.enc))
			}
			if fmt.Sprint(pages) != fmt.Sprint(c.pages) {
				t.Errorf("pages of %d rows, want %d", pages, c.pages)
			}
			for _, a := range c.arrays {
				want = append(want, cells(a)...)
			}
			raw := s.file(t, len(want))
			r, err := Open(openBytes(t, raw), f)
			if err != nil {
				t.Fatal(err)
			}
			a, err := r.Read(t.Context(), &source{b: raw}, 0, uint64(len(want)), enough)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "all", a, want)
		})
	}
}

// TestPlace numbers columns as the fixtures have them.
func TestPlace(t *testing.T) {
	fx := readFixture(t, "14.0.2", "lists")
	var bare func(f column.Field) column.Field
	bare = func(f column.Field) column.Field {
		f.Column = column.Absent
		f.Children = slices.Clone(f.Children)
		for i, c := range f.Children {
			f.Children[i] = bare(c)
		}
		return f
	}
	next := 0
	for _, f := range fields(fx.rows.Schema()) {
		if got := Place(bare(f), &next); fmt.Sprint(got) != fmt.Sprint(f) {
			t.Errorf("columns of %v, want %v", got, f)
		}
	}
	if next != len(fx.file.Columns) {
		t.Errorf("%d columns, want %d", next, len(fx.file.Columns))
	}
}

// TestNoStructs has lists of lists none of which holds a struct: readers of Lance want a page that says so all the same.
func TestNoStructs(t *testing.T) {
	structs := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64})
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.ListOf(structs))
	b.AppendValues([]int32{0, 0, 0}, []bool{true, true, true})
	var s sink
	f := field("l", b.Type())
	w, err := NewWriter(f, &s, column.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := b.NewArray()
	if err := w.Append(a, 0, a.Len()); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	at := f.Children[0].Children[0].Column
	if len(s.spec.columns) <= at || len(s.spec.columns[at].pages) != 1 || s.spec.columns[at].pages[0].rows != 0 {
		t.Errorf("the structs' column %d: %+v", at, s.spec.columns)
	}
}
