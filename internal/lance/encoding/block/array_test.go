package block

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func fixed(bits, n int) *Values {
	b := make([]byte, (bits*n+7)/8)
	for i := range b {
		b[i] = byte(i)
	}
	return &Values{Kind: Fixed, Bits: bits, N: n, Data: b, Limit: unlimited}
}

func strs(values ...string) *Values {
	v := stringShape.empty(unlimited)
	for _, s := range values {
		v.Data = append(v.Data, s...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
		v.N++
	}
	return v
}

func lists(dim int, items *Values, valid ...byte) *Values {
	return &Values{Kind: List, Dim: dim, N: items.N / dim, Items: items, Valid: valid, Limit: unlimited}
}

func nulls(n int) *Values { return &Values{Kind: Fixed, N: n, Limit: unlimited} }

func TestArray(t *testing.T) {
	fsl := func(n int32, e arrow.DataType) arrow.DataType { return arrow.FixedSizeListOf(n, e) }
	st := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "s", Type: arrow.BinaryTypes.String})
	rows := &Values{Kind: Struct, N: 2, Fields: []*Values{fixed(32, 2), strs("x", "yz")}, Limit: unlimited}
	for _, c := range []struct {
		dt    arrow.DataType
		v     *Values
		valid []byte
		nulls int
		want  string // "" when it does not fit
	}{
		{arrow.FixedWidthTypes.Boolean, &Values{Kind: Fixed, Bits: 1, N: 3, Data: []byte{0b101}}, nil, 0, "[true false true]"},
		{arrow.FixedWidthTypes.Boolean, &Values{Kind: Fixed, Bits: 8, N: 3, Data: []byte{1, 0, 1}, Limit: 99}, []byte{0b011}, 1, "[true false (null)]"},
		{arrow.FixedWidthTypes.Boolean, &Values{Kind: Fixed, Bits: 8, N: 3, Data: []byte{1, 0, 2}, Limit: 99}, nil, 0, ""},
		{arrow.PrimitiveTypes.Int8, fixed(8, 3), nil, 0, "[0 1 2]"},
		{arrow.PrimitiveTypes.Uint16, fixed(16, 2), nil, 0, "[256 770]"},
		{arrow.PrimitiveTypes.Int32, fixed(32, 2), []byte{0b10}, 1, "[(null) 117835012]"},
		{arrow.PrimitiveTypes.Uint64, fixed(64, 1), nil, 0, "[506097522914230528]"},
		{arrow.FixedWidthTypes.Float16, &Values{Kind: Fixed, Bits: 16, N: 1, Data: []byte{0, 0x3c}}, nil, 0, "[1]"},
		{arrow.PrimitiveTypes.Float64, &Values{Kind: Fixed, Bits: 64, N: 1, Data: make([]byte, 8)}, nil, 0, "[0]"},
		{arrow.FixedWidthTypes.Date32, fixed(32, 1), nil, 0, "[140132-12-08]"},
		{arrow.FixedWidthTypes.Timestamp_us, fixed(64, 1), nil, 0, "[506097522914230528]"},
		{arrow.FixedWidthTypes.Duration_ns, fixed(64, 1), nil, 0, "[506097522914230528]"},
		{arrow.FixedWidthTypes.MonthInterval, fixed(32, 1), nil, 0, "[50462976]"},
		{arrow.FixedWidthTypes.DayTimeInterval, fixed(64, 1), nil, 0, "[{50462976 117835012}]"},
		{arrow.FixedWidthTypes.MonthDayNanoInterval, fixed(128, 1), nil, 0, "[{50462976 117835012 1084818905618843912}]"},
		{&arrow.Decimal128Type{Precision: 38}, &Values{Kind: Fixed, Bits: 128, N: 1, Data: append([]byte{7}, make([]byte, 15)...)}, nil, 0, "[7]"},
		{&arrow.Decimal256Type{Precision: 70}, &Values{Kind: Fixed, Bits: 256, N: 1, Data: append([]byte{7}, make([]byte, 31)...)}, nil, 0, "[7]"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 3}, fixed(24, 2), nil, 0, `["\x00\x01\x02" "\x03\x04\x05"]`},
		{arrow.BinaryTypes.String, strs("a", "", "bc"), []byte{0b101}, 1, `["a" (null) "bc"]`},
		{arrow.BinaryTypes.LargeString, strs("a", "bc"), nil, 0, `["a" "bc"]`},
		{arrow.BinaryTypes.Binary, strs("a", "bc"), nil, 0, `["a" "bc"]`},
		{arrow.BinaryTypes.LargeBinary, strs(), nil, 0, `[]`},
		{fsl(2, arrow.PrimitiveTypes.Uint8), lists(2, fixed(8, 4)), []byte{0b01}, 1, "[[0 1] (null)]"},
		{fsl(2, arrow.PrimitiveTypes.Uint8), lists(2, fixed(8, 4), 0b1010), nil, 0, "[[(null) 1] [(null) 3]]"},
		{fsl(2, arrow.PrimitiveTypes.Uint8), fixed(16, 2), nil, 0, "[[0 1] [2 3]]"},
		{fsl(2, fsl(2, arrow.PrimitiveTypes.Uint8)), lists(2, lists(2, fixed(8, 8), 0b11111101), 0b1011), nil, 0, "[[[0 (null)] [2 3]] [(null) [6 7]]]"},
		{fsl(2, arrow.PrimitiveTypes.Float32), lists(2, nulls(4), 0), nil, 0, "[[(null) (null)] [(null) (null)]]"},
		{fsl(2, arrow.PrimitiveTypes.Float32), nulls(1), nil, 0, "[[(null) (null)]]"},
		{arrow.PrimitiveTypes.Int16, nulls(2), nil, 0, "[(null) (null)]"},
		{arrow.BinaryTypes.String, nulls(2), nil, 0, "[(null) (null)]"},
		{arrow.Null, nulls(2), nil, 0, "[(null) (null)]"},
		{st, rows, []byte{0b10}, 1, `{[(null) 117835012] [(null) "yz"]}`},
		{extensions.NewBool8Type(), fixed(8, 2), nil, 0, "[false true]"},

		{arrow.PrimitiveTypes.Int32, fixed(64, 2), nil, 0, ""},
		{arrow.PrimitiveTypes.Int32, strs("a"), nil, 0, ""},
		{arrow.BinaryTypes.String, fixed(32, 1), nil, 0, ""},
		{fsl(3, arrow.PrimitiveTypes.Uint8), lists(2, fixed(8, 6)), nil, 0, ""},
		{fsl(3, arrow.PrimitiveTypes.Uint8), fixed(16, 2), nil, 0, ""},
		{fsl(2, arrow.PrimitiveTypes.Uint16), lists(2, fixed(8, 4)), nil, 0, ""},
		{st, &Values{Kind: Struct, N: 2, Fields: []*Values{fixed(32, 2)}}, nil, 0, ""},
		{st, &Values{Kind: Struct, N: 2, Fields: []*Values{fixed(32, 3), strs("x", "y")}}, nil, 0, ""},
		{arrow.ListOf(arrow.PrimitiveTypes.Int8), fixed(8, 2), nil, 0, ""},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, strs("x"), nil, 0, ""},
		{arrow.PrimitiveTypes.Int8, fixed(8, 9), []byte{0}, 9, ""},
		{arrow.PrimitiveTypes.Int8, fixed(8, 9), []byte{0, 0}, 10, ""},
		{arrow.PrimitiveTypes.Int8, &Values{Kind: Fixed, Bits: 8, N: 3, Data: []byte{1}}, nil, 0, ""},
		{fsl(2, arrow.PrimitiveTypes.Uint8), lists(2, fixed(8, 40), 1), nil, 0, ""},
	} {
		a, err := c.v.Array(c.dt, c.valid, c.nulls)
		switch {
		case c.want == "" && !errors.Is(err, column.ErrCorrupt) && !errors.Is(err, column.ErrUnsupported):
			t.Errorf("%s: %v, %v", c.dt, a, err)
		case c.want != "" && err != nil:
			t.Errorf("%s: %v", c.dt, err)
		case c.want != "" && fmt.Sprint(a) != c.want:
			t.Errorf("%s: %v, want %s", c.dt, a, c.want)
		case c.want != "" && !arrow.TypeEqual(a.DataType(), c.dt):
			t.Errorf("%s: array of type %s", c.dt, a.DataType())
		}
	}
}

func TestArrayShares(t *testing.T) {
	v := fixed(64, 10)
	a, err := v.Array(arrow.PrimitiveTypes.Int64, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if unsafe.Pointer(&a.(*array.Int64).Int64Values()[0]) != unsafe.Pointer(&v.Data[0]) {
		t.Error("copied")
	}
	s := strs("abc")
	if a, err = s.Array(arrow.BinaryTypes.LargeString, nil, 0); err != nil {
		t.Fatal(err)
	}
	if &a.Data().Buffers()[2].Bytes()[0] != &s.Data[0] || unsafe.Pointer(&a.(*array.LargeString).ValueOffsets()[0]) != unsafe.Pointer(&s.Offsets[0]) {
		t.Error("copied")
	}
}

// Offsets that do not fit 32 bits are a matter of the limit: fewer rows would do.
func TestArrayTooLarge(t *testing.T) {
	v := &Values{Kind: Variable, N: 1, Offsets: []int64{0, 1 << 31}, Limit: unlimited}
	if _, err := v.Array(arrow.BinaryTypes.String, nil, 0); !errors.Is(err, column.ErrLimit) {
		t.Error(err)
	}
	if _, err := (&Values{Kind: Fixed, N: 1000, Limit: 1000}).Array(arrow.PrimitiveTypes.Int64, nil, 0); !errors.Is(err, column.ErrLimit) {
		t.Error(err)
	}
}

func TestAppendNulls(t *testing.T) {
	v := &Values{Kind: Struct, Limit: unlimited, Fields: []*Values{
		{Kind: Fixed, Bits: 1, Limit: unlimited}, {Kind: Fixed, Bits: 24, Limit: unlimited}, stringShape.empty(unlimited),
		{Kind: List, Dim: 3, Items: &Values{Kind: Fixed, Bits: 8, Limit: unlimited}, Valid: []byte{}, Limit: unlimited},
	}}
	for range 3 {
		if err := v.AppendNulls(5); err != nil {
			t.Fatal(err)
		}
	}
	f := v.Fields
	if v.N != 15 || f[0].N != 15 || len(f[0].Data) != 2 || len(f[1].Data) != 45 || len(f[2].Offsets) != 16 || f[3].Items.N != 45 || len(f[3].Valid) != 6 || f[3].Valid[5] != 0b11111 {
		t.Errorf("%+v %+v %+v %+v", f[0], f[1], f[2], f[3])
	}
	have := v.size()
	limited := v.empty(have)
	limited.Limit = have
	if err := limited.AppendNulls(15); err != nil {
		t.Error(err)
	}
	if err := limited.AppendNulls(100); !errors.Is(err, column.ErrLimit) {
		t.Error(err)
	}
	for _, n := range []int{-1, 1 << 40, 1 << 62} {
		if err := v.AppendNulls(n); err == nil {
			t.Errorf("%d nulls accepted", n)
		}
	}
}

// A fixed-size binary of no bytes has nothing but its nulls.
func TestArrayOfNoBytes(t *testing.T) {
	dt := &arrow.FixedSizeBinaryType{}
	v := &Values{Kind: Fixed, Limit: unlimited}
	if err := v.AppendNulls(3); err != nil {
		t.Fatal(err)
	}
	a, err := v.Array(dt, []byte{0b101}, 1)
	if err != nil || a.Len() != 3 || a.NullN() != 1 || a.IsValid(1) {
		t.Fatalf("%v, error %v", a, err)
	}
	v = &Values{Kind: Fixed, Bits: 8, N: 1, Data: []byte{1}, Limit: unlimited}
	if _, err := v.Array(dt, nil, 0); !errors.Is(err, column.ErrCorrupt) {
		t.Errorf("bytes where there are none: error %v", err)
	}
}
