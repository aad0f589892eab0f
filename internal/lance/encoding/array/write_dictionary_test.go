package array

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// keyedStrings is a dictionary array of strings named from one number on, with a null behind every so many.
func keyedStrings(typ *arrow.DictionaryType, first, distinct, rows, null int) arrow.Array {
	items := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range distinct {
		items.Append(fmt.Sprint("v", first+i))
	}
	bits, _ := fixedBits(typ.IndexType)
	w := int(bits / 8)
	keys, valid, nulls := make([]byte, rows*w), make([]bool, rows), 0
	for i := range rows {
		if valid[i] = null == 0 || i%null != null-1; !valid[i] {
			nulls++
			putKey(keys, w, i, uint64(distinct+7)) // no item: nobody may look
			continue
		}
		putKey(keys, w, i, uint64(i%distinct))
	}
	d := items.NewArray().Data().(*array.Data)
	return array.MakeFromData(array.NewDataWithDictionary(typ, rows, []*memory.Buffer{memory.NewBufferBytes(validBits(valid)), memory.NewBufferBytes(keys)}, nulls, 0, d))
}

// TestFullDictionary refuses more items than keys count, in one page or in all.
func TestFullDictionary(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		name   string
		key    arrow.DataType
		arrays [][4]int // first, distinct, rows, null
		items  uint32   // 0: too many
	}{
		{"as many as there are keys", p.Int8, [][4]int{{0, 128, 300, 0}}, 128},
		{"a null with them", p.Int8, [][4]int{{0, 127, 300, 10}}, 128},
		{"a null too many", p.Int8, [][4]int{{0, 128, 300, 129}}, 0},
		{"unsigned", p.Uint8, [][4]int{{0, 256, 300, 0}}, 256},
		{"two dictionaries", p.Uint8, [][4]int{{0, 200, 300, 0}, {150, 106, 300, 0}}, 256},
		{"two dictionaries, too large", p.Uint8, [][4]int{{0, 200, 300, 0}, {150, 200, 300, 0}}, 0},
		{"the same again", p.Int8, [][4]int{{0, 100, 300, 0}, {0, 100, 300, 0}}, 100},
		{"only what is used", p.Int32, [][4]int{{0, 5000, 20, 7}}, 19},
		{"nothing but nulls", p.Int16, [][4]int{{0, 3, 20, 1}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			typ := &arrow.DictionaryType{IndexType: c.key, ValueType: arrow.BinaryTypes.String}
			f := field("d", typ)
			var arrays []arrow.Array
			var want []string
			for _, x := range c.arrays {
				a := keyedStrings(typ, x[0], x[1], x[2], x[3])
				arrays, want = append(arrays, a), append(want, cells(a)...)
			}
			for i, bytes := range []int64{0, 150} { // one page, many pages
				var s sink
				w, err := NewWriter(f, &s, column.WriteOptions{PageBytes: bytes})
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range arrays {
					if err == nil {
						err = w.Append(a, 0, a.Len())
					}
				}
				if err == nil {
					err = w.Flush()
				}
				if c.items == 0 {
					if !errors.Is(err, column.ErrUnsupported) {
						t.Errorf("pages of %d: error %v", bytes, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				s.close(t, f)
				pages := s.spec.columns[0].pages
				if n := pages[0].enc.GetDictionary().GetNumItems(); i == 0 && (n != c.items || len(pages) != 1) {
					t.Errorf("%d pages, %d items", len(pages), n)
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
				check(t, "all pages", a, want)
			}
		})
	}
}

// TestOtherDictionaries puts dictionaries of values of one width together.
func TestOtherDictionaries(t *testing.T) {
	bools := func(v ...bool) arrow.ArrayData {
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		b.AppendValues(v, nil)
		return b.NewArray().Data()
	}
	ints := func(v ...uint64) arrow.ArrayData { return integers(arrow.PrimitiveTypes.Int64, v, nil).Data() }
	for name, items := range map[string][]arrow.ArrayData{
		"bool":  {bools(true, false, true), bools(false)},
		"int64": {ints(7, 8, 7), ints(8, 1<<40)},
	} {
		t.Run(name, func(t *testing.T) {
			typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: items[0].DataType()}
			var arrays []arrow.Array
			var want []string
			for _, d := range items {
				keys := make([]byte, 2*20)
				for i := range 20 {
					putKey(keys, 2, i, uint64(i%d.Len()))
				}
				a := array.MakeFromData(array.NewDataWithDictionary(typ, 20, []*memory.Buffer{nil, memory.NewBufferBytes(keys)}, 0, 0, d.(*array.Data)))
				arrays, want = append(arrays, a), append(want, cells(a)...)
			}
			var s sink
			s.add(t, field("d", typ), 0, arrays...)
			if n := s.spec.columns[0].pages[0].enc.GetDictionary().GetNumItems(); int(n) != map[string]int{"bool": 2, "int64": 3}[name] {
				t.Errorf("%d items", n)
			}
			raw := s.file(t, len(want))
			r, err := Open(openBytes(t, raw), field("d", typ))
			if err != nil {
				t.Fatal(err)
			}
			a, err := r.Read(t.Context(), &source{b: raw}, 0, 40, enough)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "all", a, want)
		})
	}
}
