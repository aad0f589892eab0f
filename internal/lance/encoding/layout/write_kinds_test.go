package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// layoutsOf are the kinds of the pages of a column.
func layoutsOf(r column.Reader) (kinds []string) {
	for _, p := range r.Pages() {
		kinds = append(kinds, p.Layout)
	}
	return kinds
}

func repeat[T any](n int, v ...T) []T {
	out := make([]T, 0, n*len(v))
	for range n {
		out = append(out, v...)
	}
	return out
}

func stringsOf(v ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(v, nil)
	return b.NewArray()
}

func intsOf(v ...int64) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(v, nil)
	return b.NewArray()
}

// Which layout a page gets follows from its values, and from what the field asks for.
func TestLayoutChosen(t *testing.T) {
	meta := func(kv ...string) arrow.Metadata { return arrow.MetadataFrom(map[string]string{kv[0]: kv[1]}) }
	rnd := rand.New(rand.NewPCG(1, 1))
	short, long := make([]string, 300), make([]string, 300)
	numbers := make([]int64, 300)
	for i := range short {
		short[i], long[i] = fmt.Sprintf("%x", rnd.Uint64()), strings.Repeat(fmt.Sprintf("%x", rnd.Uint64()), 20)
		numbers[i] = int64(rnd.Uint64())
	}
	noise := func() string {
		b := make([]byte, 40_000)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return string(b)
	}
	nulls := array.NewNull(9)
	list := arrow.ListOf(arrow.BinaryTypes.String)
	one := func(dt arrow.DataType) arrow.DataType {
		return arrow.StructOf(arrow.Field{Name: "f", Type: dt, Nullable: true})
	}
	bitsIn := func(n int32) arrow.DataType { return arrow.FixedSizeListOf(n, arrow.FixedWidthTypes.Boolean) }
	text := func(format string) string {
		return fmt.Sprintf(format, strings.Repeat(long[0], 2), strings.Repeat(long[1], 3))
	}
	for name, c := range map[string]struct {
		a     arrow.Array
		meta  arrow.Metadata
		minor int
		want  string
	}{
		"short":            {a: stringsOf(short...), minor: 2, want: "mini-block"},
		"long":             {a: stringsOf(long...), minor: 2, want: "full-zip"},
		"one long":         {a: stringsOf(append(short[:299:299], long[0])...), minor: 2, want: "full-zip"},
		"255 bytes":        {a: stringsOf(append(short[:299:299], strings.Repeat("x", 255))...), minor: 2, want: "mini-block"},
		"256 bytes":        {a: stringsOf(append(short[:299:299], strings.Repeat("x", 256))...), minor: 2, want: "full-zip"},
		"short, zipped":    {a: stringsOf(short...), meta: meta(keyStructural, "FullZip"), minor: 1, want: "full-zip"},
		"long, in chunks":  {a: stringsOf(long...), meta: meta(keyStructural, "miniblock"), minor: 1, want: "mini-block"},
		"nonsense":         {a: stringsOf(short...), meta: meta(keyStructural, "x"), minor: 1, want: "mini-block"},
		"too long":         {a: stringsOf(noise(), noise(), noise()), meta: meta(keyStructural, "miniblock"), minor: 1, want: "full-zip"},
		"one value":        {a: intsOf(repeat(300, int64(7))...), minor: 2, want: "constant"},
		"one value in 2.1": {a: intsOf(repeat(300, int64(7))...), minor: 1, want: "mini-block"},
		"one text":         {a: stringsOf(repeat(300, long[0])...), minor: 2, want: "constant"},
		"few long":         {a: stringsOf(repeat(300, long[0], long[1])...), minor: 2, want: "mini-block"},
		"numbers":          {a: intsOf(numbers...), minor: 2, want: "mini-block"},
		"numbers, zipped":  {a: intsOf(numbers...), meta: meta(keyStructural, "fullzip"), minor: 2, want: "full-zip"},
		"nulls":            {a: nulls, minor: 1, want: "constant"},
		// Zipped, each row takes whole bytes.
		"5 bits each": {a: fromJSON(t, bitsIn(5), `[[true, false, true, true, false], null, [false, false, false, true, true]]`), meta: meta(keyStructural, "fullzip"), minor: 1, want: "mini-block"},
		"8 bits each": {a: fromJSON(t, bitsIn(8), `[[true, false, true, true, false, true, true, true], [false, false, false, true, true, true, true, true]]`), meta: meta(keyStructural, "fullzip"), minor: 1, want: "full-zip"},
		"null bits":   {a: fromJSON(t, bitsIn(8), `[[true, null, true, true, false, true, true, true], [false, false, false, true, true, true, true, true]]`), meta: meta(keyStructural, "fullzip"), minor: 1, want: "mini-block"},
		// Lance 10 misreads these where there are more ways to be null or empty than three.
		"in lists":        {a: fromJSON(t, one(list), text(`[null, {"f": null}, {"f": ["%s", "ab"]}, {"f": ["%s"]}]`)), minor: 2, want: "full-zip"},
		"in deeper lists": {a: fromJSON(t, one(one(list)), text(`[null, {"f": null}, {"f": {"f": null}}, {"f": {"f": []}}, {"f": {"f": ["%s", "ab"]}}, {"f": {"f": [null, "%s"]}}]`)), minor: 2, want: "mini-block"},
	} {
		t.Run(name, func(t *testing.T) {
			f := arrow.Field{Name: "f", Type: c.a.DataType(), Nullable: true, Metadata: c.meta}
			r, file := written(t, f, c.a, c.minor, column.WriteOptions{}, 1)
			if got := layoutsOf(r); len(got) != 1 || got[0] != c.want {
				t.Errorf("%v, want %s", r.Pages(), c.want)
			}
			same(t, r, file, c.a, rnd)
		})
	}
}

// A page ends with the row that fills it, however the rows come.
func TestPageBorders(t *testing.T) {
	a := intsOf(make([]int64, 1000)...)
	f := arrow.Field{Name: "f", Type: a.DataType()}
	for _, pieces := range []int{1, 7, 1000} {
		r, file := written(t, f, a, 1, column.WriteOptions{PageBytes: 2401}, pieces)
		var rows []uint64
		for _, p := range r.Pages() {
			rows = append(rows, p.Rows)
		}
		if fmt.Sprint(rows) != "[301 301 301 97]" {
			t.Errorf("in %d pieces: pages of %v rows", pieces, rows)
		}
		prio := uint64(0)
		for _, p := range file.columns[0].Pages {
			if p.Priority != prio {
				t.Errorf("priority %d, want %d", p.Priority, prio)
			}
			prio += p.Length
		}
	}
	long := stringsOf(repeat(4, strings.Repeat("x", 5000), "y")...)
	r, _ := written(t, arrow.Field{Name: "f", Type: long.DataType()}, long, 2, column.WriteOptions{PageBytes: 100}, 1)
	if n := len(r.Pages()); n != 4 && n != 5 {
		t.Errorf("%d pages of rows of which each second fills one", n)
	}
}

// Most lists are empty, so that a chunk of values has more levels than it can hold.
func TestSparseLists(t *testing.T) {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64)
	defer b.Release()
	values := b.ValueBuilder().(*array.Int64Builder)
	for i := range 400_000 {
		b.Append(true)
		if i > 150_000 && i%9000 == 0 {
			values.Append(int64(i) * 0x9E3779B97F4A7C1)
		}
	}
	a := b.NewArray()
	defer a.Release()
	f := arrow.Field{Name: "f", Type: a.DataType(), Nullable: true}
	for _, minor := range []int{1, 2} {
		r, file := written(t, f, a, minor, column.WriteOptions{}, 3)
		for _, p := range r.Pages() {
			if p.Layout == "full-zip" || p.Rows > 155_000 {
				t.Errorf("%s page of %d rows", p.Layout, p.Rows)
			}
		}
		got, err := r.Read(t.Context(), memorySource(file.data), 0, r.Rows(), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if !array.Equal(a, got) {
			t.Error("what was read differs")
		}
		got.Release()
	}
}

// One row alone has more levels than a chunk can hold.
func TestSparseRow(t *testing.T) {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.ListOf(arrow.PrimitiveTypes.Int64))
	defer b.Release()
	inner := b.ValueBuilder().(*array.ListBuilder)
	b.Append(true)
	for range 200_000 {
		inner.Append(true)
	}
	inner.Append(true)
	inner.ValueBuilder().(*array.Int64Builder).Append(5)
	a := b.NewArray()
	defer a.Release()
	f := arrow.Field{Name: "f", Type: a.DataType(), Nullable: true}
	for _, minor := range []int{1, 2} {
		r, file := written(t, f, a, minor, column.WriteOptions{}, 1)
		got, err := r.Read(t.Context(), memorySource(file.data), 0, 1, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if !array.Equal(a, got) {
			t.Error("what was read differs")
		}
		got.Release()
	}
}

// More words than the index type has room for become several pages.
func TestWordsOverflow(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	file := new(memoryFile)
	next := 0
	field := fieldOf(arrow.Field{Name: "f", Type: dt, Nullable: true}, &next)
	w, err := NewWriter(field, 1, file, column.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []arrow.Array
	for part := range 3 {
		b := array.NewDictionaryBuilder(memory.DefaultAllocator, dt).(*array.BinaryDictionaryBuilder)
		for i := range 300 {
			if err := b.AppendString(fmt.Sprint(part, i%100)); err != nil {
				t.Fatal(err)
			}
		}
		a := b.NewArray()
		b.Release()
		if err := w.Append(a, 0, a.Len()); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file.finish(1, 900, 1), field)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Pages()); n != 3 {
		t.Errorf("%d pages", n)
	}
	for part, a := range all {
		got, err := r.Read(t.Context(), memorySource(file.data), uint64(part*300), uint64(part*300+300), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "words", a, got, 0)
	}
}

// Rows whose pages come from elsewhere have their place among those that are written.
func TestSkip(t *testing.T) {
	next := 0
	a := intsOf(1, 2, 3)
	file := new(memoryFile)
	w, err := NewWriter(fieldOf(arrow.Field{Name: "f", Type: a.DataType()}, &next), 2, file, column.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(a, 0, 2); err != nil {
		t.Fatal(err)
	}
	if err := w.Skip(10); err == nil {
		t.Error("rows that are held were skipped over")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := w.Skip(10); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(a, 2, 3); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if p := file.columns[0].Pages; len(p) != 2 || p[1].Priority != 12 {
		t.Errorf("%v", p)
	}
}

// sinkOf fails with an error.
type sinkOf struct{ err error }

func (s sinkOf) Page(column.Page) error      { return s.err }
func (s sinkOf) Blob([]byte) (uint64, error) { return 0, s.err }

func TestWriteFails(t *testing.T) {
	a := intsOf(1, 2, 3)
	f := arrow.Field{Name: "f", Type: a.DataType()}
	broken := errors.New("broken")
	open := func(f arrow.Field, minor int) (column.Writer, error) {
		next := 0
		return NewWriter(fieldOf(f, &next), minor, sinkOf{broken}, column.WriteOptions{})
	}
	w, err := open(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(a, 0, 3); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); !errors.Is(err, broken) || !strings.Contains(err.Error(), "column 0 (f, int64)") {
		t.Errorf("%v", err)
	}
	for _, c := range [][2]int{{-1, 1}, {2, 1}, {0, 4}} {
		if err := w.Append(a, c[0], c[1]); err == nil {
			t.Errorf("rows %v were taken of 3", c)
		}
	}
	for _, minor := range []int{0, 3} {
		if _, err := open(f, minor); !errors.Is(err, column.ErrUnsupported) {
			t.Errorf("2.%d: %v", minor, err)
		}
	}
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.StringView, arrow.ListViewOf(arrow.Null), arrow.FixedSizeListOf(2, arrow.BinaryTypes.String), arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.Null)} {
		w, err := open(arrow.Field{Name: "f", Type: dt}, 2)
		if err == nil {
			one := array.MakeArrayOfNull(memory.DefaultAllocator, dt, 1)
			if err = w.Append(one, 0, 1); err == nil {
				continue // nulls can be of any type that has a place for values
			}
		}
		if !errors.Is(err, column.ErrUnsupported) || !strings.Contains(err.Error(), "f") {
			t.Errorf("%v: %v", dt, err)
		}
	}
	// Arrays of another type than the field's.
	w, err = open(arrow.Field{Name: "f", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(a, 0, 3); !errors.Is(err, column.ErrUnsupported) {
		t.Errorf("numbers for lists: %v", err)
	}
}

// FuzzWrite writes random arrays of random types and reads them back.
func FuzzWrite(f *testing.F) {
	for _, seed := range []uint64{1, 2, 3, 77} {
		f.Add(binary.LittleEndian.AppendUint64(nil, seed), byte(3))
	}
	f.Fuzz(func(t *testing.T, seed []byte, depth byte) {
		var s [32]byte
		copy(s[:], seed)
		r := rand.New(rand.NewChaCha8(s))
		dt := randomNest(r, int(depth%5), false)
		v := values{r: r, nulls: r.IntN(5), distinct: r.IntN(4), long: r.IntN(2) == 0}
		a := v.array(dt, r.IntN(200))
		defer a.Release()
		rd, file := written(t, arrow.Field{Name: "f", Type: dt, Nullable: true}, a, 1+r.IntN(2), column.WriteOptions{PageBytes: 1 << r.IntN(16)}, 1+r.IntN(4))
		same(t, rd, file, a, r)
	})
}
