package block

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func TestAppendArray(t *testing.T) {
	const n = 1000
	all := sorts(n)
	rng := rand.New(rand.NewPCG(11, 12))
	fsl := func(n int32, e arrow.DataType) arrow.DataType { return arrow.FixedSizeListOf(n, e) }
	p := arrow.PrimitiveTypes
	rows := &Values{Kind: Struct, N: n, Fields: []*Values{all["i32 random"], all["bytes"], all["bool"]}, Limit: unlimited}
	for _, c := range []struct {
		v  *Values
		dt arrow.DataType
	}{
		{all["bool"], arrow.FixedWidthTypes.Boolean}, {all["u8 random"], p.Uint8}, {all["i16 small"], p.Int16}, {all["i32 random"], p.Int32},
		{all["f32 random"], p.Float32}, {all["i64 random"], p.Int64}, {all["timestamp"], arrow.FixedWidthTypes.Timestamp_us},
		{all["decimal"], &arrow.Decimal128Type{Precision: 38}}, {all["24 bits"], &arrow.FixedSizeBinaryType{ByteWidth: 3}},
		{all["short strings"], arrow.BinaryTypes.String}, {all["bytes"], arrow.BinaryTypes.Binary}, {all["bytes"], arrow.BinaryTypes.LargeBinary},
		{all["sentences"], arrow.BinaryTypes.LargeString}, {all["empty strings"], arrow.BinaryTypes.String},
		{all["vectors of 8"], fsl(8, p.Float32)}, {all["vectors of 8, nulls"], fsl(8, p.Float32)}, {all["lists of 8 bools"], fsl(8, arrow.FixedWidthTypes.Boolean)},
		{all["lists of lists"], fsl(2, fsl(3, p.Uint16))},
		{rows, arrow.StructOf(arrow.Field{Name: "a", Type: p.Int32}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "c", Type: arrow.FixedWidthTypes.Boolean})},
		{&Values{Kind: Fixed, Bits: 128, N: n, Data: make([]byte, 16*n), Limit: unlimited}, extensions.NewUUIDType()},
	} {
		a, err := c.v.Array(c.dt, validity(n, rng), 0)
		if err != nil {
			t.Fatalf("%s: %v", c.dt, err)
		}
		for range 20 {
			from := rng.IntN(n)
			to := from + rng.IntN(n-from+1)
			part := array.NewSlice(a, int64(from), int64(to))
			v := &Values{Limit: unlimited}
			for at := 0; at < part.Len() || at == 0; {
				end := min(at+1+rng.IntN(300), part.Len())
				if err := v.AppendArray(part, at, end); err != nil {
					t.Fatalf("%s: %v", c.dt, err)
				}
				if at = end; part.Len() == 0 {
					break
				}
			}
			got, err := v.Array(c.dt, nil, 0)
			if err != nil {
				t.Fatalf("%s: %v", c.dt, err)
			}
			if !array.Equal(got, part) {
				t.Fatalf("%s: values %d to %d are other ones", c.dt, from, to)
			}
		}
	}
}

func TestAppendArrayRefuses(t *testing.T) {
	p := arrow.PrimitiveTypes
	b := array.NewBuilder(memory.DefaultAllocator, arrow.ListOf(p.Int8))
	b.AppendNull()
	list := b.NewArray()
	texts, err := strs("a", "b").Array(arrow.BinaryTypes.String, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		v    *Values
		a    arrow.Array
		want error
	}{
		"lists":                {new(Values), list, column.ErrUnsupported},
		"null":                 {new(Values), array.NewNull(2), column.ErrUnsupported},
		"texts for numbers":    {fixed(32, 1), texts, column.ErrCorrupt},
		"lists, for numbers":   {fixed(32, 1), list, column.ErrCorrupt},
		"more than is allowed": {&Values{Limit: 8}, texts, column.ErrLimit},
	} {
		if err := c.v.AppendArray(c.a, 0, c.a.Len()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, r := range [][2]int{{-1, 1}, {1, 0}, {0, 3}} {
		if err := new(Values).AppendArray(texts, r[0], r[1]); err == nil {
			t.Errorf("values %v of 2", r)
		}
	}
	sb := array.NewStructBuilder(memory.DefaultAllocator, arrow.StructOf(arrow.Field{Name: "a", Type: p.Int32, Nullable: true}))
	sb.Append(true)
	sb.FieldBuilder(0).(*array.Int32Builder).Append(1)
	sb.AppendNull()
	sb.Append(true)
	sb.FieldBuilder(0).AppendNull()
	structs := sb.NewArray()
	if err := new(Values).AppendArray(structs, 0, 2); err != nil {
		t.Errorf("a null struct: %v", err)
	}
	if err := new(Values).AppendArray(structs, 0, 3); !errors.Is(err, column.ErrUnsupported) {
		t.Errorf("a null in a struct: %v", err)
	}
	nothing := array.MakeFromData(array.NewData(p.Int32, 3, []*memory.Buffer{memory.NewBufferBytes([]byte{0}), nil}, nil, 3, 0))
	v := &Values{Limit: unlimited}
	if err := v.AppendArray(nothing, 0, 3); err != nil || v.N != 3 || len(v.Data) != 12 {
		t.Errorf("nulls without values: %d values in %d bytes, %v", v.N, len(v.Data), err)
	}
}

// What nulls have in their place is left out.
func TestAppendArrayClears(t *testing.T) {
	const n = 700
	all := sorts(n)
	rng := rand.New(rand.NewPCG(1, 12))
	valid := validity(n, rng)
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		v  *Values
		dt arrow.DataType
	}{
		{all["bool"], arrow.FixedWidthTypes.Boolean}, {all["i32 random"], p.Int32}, {all["decimal"], &arrow.Decimal128Type{Precision: 38}},
		{all["short strings"], arrow.BinaryTypes.String}, {all["bytes"], arrow.BinaryTypes.LargeBinary},
		{all["vectors of 8"], arrow.FixedSizeListOf(8, p.Float32)},
		{&Values{Kind: Struct, N: n, Fields: []*Values{all["i16 small"], all["f64 random"]}, Limit: unlimited},
			arrow.StructOf(arrow.Field{Name: "a", Type: p.Int16}, arrow.Field{Name: "b", Type: p.Float64})},
	} {
		a, err := c.v.Array(c.dt, valid, n-bitutil.CountSetBits(valid, 0, n))
		if err != nil {
			t.Fatal(err)
		}
		want := c.v.empty(unlimited)
		for i := range n {
			if !bitutil.BitIsSet(valid, i) {
				err = want.AppendNulls(1)
			} else {
				one, err1 := c.v.Array(c.dt, nil, 0)
				if err1 != nil {
					t.Fatal(err1)
				}
				err = want.AppendArray(one, i, i+1)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := &Values{Limit: unlimited}
		for at := 0; at < n; at += 100 {
			if err := got.AppendArray(array.NewSlice(a, int64(at), int64(at+100)), 0, 40); err != nil {
				t.Fatal(err)
			}
			if err := got.AppendArray(a, at+40, at+100); err != nil {
				t.Fatal(err)
			}
		}
		if err := sameValues(got, want); err != nil {
			t.Errorf("%s: %v", c.dt, err)
		}
		if c.v.Kind == Variable && len(got.Data) != len(want.Data) {
			t.Errorf("%s: %d bytes, want %d", c.dt, len(got.Data), len(want.Data))
		}
	}
}

// Nulls are the numbers before them, however the values came.
func TestNullsRepeat(t *testing.T) {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	var want []int64
	last := int64(0)
	for i := range int64(5000) {
		if i%7 < 3 {
			b.AppendNull()
		} else {
			last = i * 1e9
			b.Append(last)
		}
		want = append(want, last)
	}
	a := b.NewArray()
	defer a.Release()
	for _, step := range []int{1, 2, 100, 5000} {
		parts := NewParts(&Values{Kind: Fixed, Bits: 64, Limit: unlimited})
		for from := 0; from < a.Len(); from += step {
			if err := parts.AppendArray(a, from, min(from+step, a.Len())); err != nil {
				t.Fatal(err)
			}
		}
		v := parts.Whole(nil)
		if got := arrow.Int64Traits.CastFromBytes(v.Data[:8*v.N]); !slices.Equal(got, want) {
			t.Errorf("by %d: %d…", step, got[:20])
		}
	}
}
