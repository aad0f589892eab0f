package block

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/zstd"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func mustZip(tb testing.TB, e enc) Zip {
	tb.Helper()
	z, err := NewZip(e)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// zstdSized compresses as a writer does: the size in front of the frame.
func zstdSized(tb testing.TB, s string) []byte {
	tb.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Close()
	return join(u64s(uint64(len(s))), w.EncodeAll([]byte(s), nil))
}

func TestZipVariable(t *testing.T) {
	v32 := variableOf(flatOf(32))
	z := zstdSized(t, "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz")
	symbolsThenZstd := generalOf(zstdScheme, fsstOf(symbols(), v32))
	for _, c := range []struct {
		name   string
		enc    enc
		values []string
		want   []string // nil when the last value is corrupt
	}{
		{"variable", v32, []string{"a", "", "bcd"}, []string{"a", "", "bcd"}},
		{"fsst", fsstOf(symbols(), v32), []string{"\x00", "", "\x01\x01"}, []string{"ab", "", "xyzxyz"}},
		{"fsst, unknown code", fsstOf(symbols(), v32), []string{"\x00", "\x02"}, nil},
		{"zstd", generalOf(zstdScheme, v32), []string{string(z), ""}, []string{strings.Repeat("z", 30), ""}},
		{"zstd, cut", generalOf(zstdScheme, v32), []string{string(z[:len(z)-1])}, nil},
		{"zstd of fsst", symbolsThenZstd, []string{string(zstdSized(t, "\x00\x01"))}, []string{"abxyz"}},
		{"zstd of fsst, unknown code", symbolsThenZstd, []string{string(zstdSized(t, "\x09"))}, nil},
	} {
		d := mustZip(t, c.enc)
		v := d.New(unlimited)
		var err error
		for _, value := range c.values {
			if err = d.AppendVariable(v, []byte(value)); err != nil {
				break
			}
		}
		if c.want == nil {
			if !errors.Is(err, column.ErrCorrupt) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || v.N != len(c.want) {
			t.Errorf("%s: %d values, %v", c.name, v.N, err)
			continue
		}
		for i, want := range c.want {
			if got := string(v.Data[v.Offsets[i]:v.Offsets[i+1]]); got != want {
				t.Errorf("%s: value %d is %q, want %q", c.name, i, got, want)
			}
		}
		limited := d.New(v.size() - 1)
		for _, value := range c.values {
			if err = d.AppendVariable(limited, []byte(value)); err != nil {
				break
			}
		}
		if !errors.Is(err, column.ErrLimit) {
			t.Errorf("%s: %d bytes where %d are allowed: %v", c.name, v.size(), v.size()-1, err)
		}
		if err := d.AppendFixed(d.New(unlimited), []byte{1}, 1); d.Bits() != 0 || !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%s: %d bits, fixed value: %v", c.name, d.Bits(), err)
		}
	}
}

func TestZipStruct(t *testing.T) {
	d := mustZip(t, structOf(fixedField(16, flatOf(16)), variableField(32, variableOf(flatOf(32))),
		fixedField(24, listOf(2, true, flatOf(8))), variableField(64, fsstOf(symbols(), variableOf(flatOf(64))))))
	row := func(a, s, l string, codes []byte) []byte {
		return join(a, u32s(uint32(len(s))), s, l, u64s(uint64(len(codes))), codes)
	}
	v := d.New(unlimited)
	rows := [][]byte{row("aa", "hello", "\x03xy", []byte{0, 1}), row("bb", "", "\x01pq", nil)}
	for _, r := range rows {
		if err := d.AppendVariable(v, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.AppendNulls(1); err != nil {
		t.Fatal(err)
	}
	f := v.Fields
	if v.N != 3 || string(f[0].Data) != "aabb\x00\x00" || string(f[1].Data) != "hello" || string(f[2].Items.Data) != "xypq\x00\x00" || f[2].Valid[0] != 0b110111 || string(f[3].Data) != "abxyz" {
		t.Errorf("%d rows: %q %q %q %b %q", v.N, f[0].Data, f[1].Data, f[2].Items.Data, f[2].Valid, f[3].Data)
	}
	good := rows[0]
	for i := range good {
		if err := d.AppendVariable(d.New(unlimited), good[:i]); !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", i, len(good), err)
		}
	}
	long := row("aa", "hello", "\x03xy", []byte{0, 1})
	for name, change := range map[string]func(b []byte) []byte{
		"a byte more":                  func(b []byte) []byte { return append(b, 0) },
		"length beyond the row":        func(b []byte) []byte { b[2] = 100; return b },
		"64-bit length beyond the row": func(b []byte) []byte { b[14+7] = 0xff; return b },
		"unknown code":                 func(b []byte) []byte { b[len(b)-1] = 5; return b },
	} {
		if err := d.AppendVariable(d.New(unlimited), change(bytes.Clone(long))); !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	one := d.New(unlimited)
	if err := d.AppendVariable(one, good); err != nil {
		t.Fatal(err)
	}
	if err := d.AppendVariable(d.New(one.size()), good); err != nil {
		t.Errorf("exactly what is allowed: %v", err)
	}
	if err := d.AppendVariable(d.New(one.size()-1), good); !errors.Is(err, column.ErrLimit) {
		t.Errorf("a byte more than allowed: %v", err)
	}
}

func TestZipRows(t *testing.T) {
	nested := mustZip(t, listOf(3, true, listOf(2, true, flatOf(8))))
	if nested.Bits() != 8*(1+1+6) {
		t.Fatalf("%d bits", nested.Bits())
	}
	v := nested.New(unlimited)
	data := join(0b101, 0b110011, "abcdef", 0b011, 0b001101, "ghijkl")
	if err := nested.AppendFixed(v, data, 2); err != nil {
		t.Fatal(err)
	}
	if v.N != 2 || v.Items.N != 6 || v.Items.Items.N != 12 || string(v.Items.Items.Data) != "abcdefghijkl" ||
		v.Valid[0] != 0b011101 || v.Items.Valid[0] != 0b01110011 || v.Items.Valid[1] != 0b0011 {
		t.Errorf("%+v %+v %+v", v, v.Items, v.Items.Items)
	}
	for n := range 4 {
		if err := nested.AppendFixed(nested.New(unlimited), data, n); n != 2 && !errors.Is(err, column.ErrCorrupt) {
			t.Errorf("%d values in the bytes of 2: %v", n, err)
		}
	}
	if err := nested.AppendFixed(nested.New(v.size()-1), data, 2); !errors.Is(err, column.ErrLimit) {
		t.Errorf("a byte more than allowed: %v", err)
	}
	if err := nested.AppendVariable(nested.New(unlimited), data); !errors.Is(err, column.ErrCorrupt) {
		t.Errorf("as a value of varying length: %v", err)
	}

	bits := mustZip(t, listOf(8, false, flatOf(1)))
	v = bits.New(unlimited)
	if err := bits.AppendFixed(v, []byte{0xa5, 0x3c}, 2); err != nil || v.N != 2 || v.Items.N != 16 || !bytes.Equal(v.Items.Data, []byte{0xa5, 0x3c}) {
		t.Errorf("%+v, %v", v.Items, err)
	}
}

// Booleans have a byte each in full-zip pages and a bit in chunks. They may come behind each other.
func TestZipBooleans(t *testing.T) {
	z := mustZip(t, flatOf(8))
	c, err := NewChunk(flatOf(1))
	if err != nil {
		t.Fatal(err)
	}
	v := c.New(unlimited)
	if err := c.Append(v, [][]byte{{0b101}}, 3, 0, 3); err != nil {
		t.Fatal(err)
	}
	if err := z.AppendFixed(v, []byte{1, 0, 0, 1, 1, 0, 1}, 7); err != nil {
		t.Fatal(err)
	}
	if v.N != 10 || !bytes.Equal(v.Data, []byte{0b11001101, 0b10}) {
		t.Errorf("%d values %b", v.N, v.Data)
	}
	if err := z.AppendFixed(v, []byte{2}, 1); !errors.Is(err, column.ErrCorrupt) {
		t.Errorf("2 as a boolean: %v", err)
	}
	bytes := z.New(unlimited)
	if err := c.Append(bytes, [][]byte{{0b101}}, 3, 0, 3); err != nil {
		t.Errorf("into an empty block: %v", err)
	}
	if err := z.AppendFixed(z.New(unlimited), []byte{1, 2}, 2); err != nil {
		t.Errorf("bytes: %v", err)
	}
}

// A large first block is not copied, and what comes behind it does not write into it.
func TestZipShares(t *testing.T) {
	z := mustZip(t, listOf(4, false, flatOf(32)))
	data := make([]byte, 2*minShared)
	input := data[: minShared : 2*minShared]
	v := z.New(unlimited)
	if err := z.AppendFixed(v, input, minShared/16); err != nil {
		t.Fatal(err)
	}
	if &v.Items.Data[0] != &data[0] {
		t.Error("copied")
	}
	if err := z.AppendFixed(v, bytes.Repeat([]byte{1}, 16), 1); err != nil {
		t.Fatal(err)
	}
	if data[minShared] != 0 || &v.Items.Data[0] == &data[0] || v.N != minShared/16+1 {
		t.Error("the next value went into the input")
	}
	odd := z.New(unlimited)
	if err := z.AppendFixed(odd, data[1:minShared+1], minShared/16); err != nil {
		t.Fatal(err)
	}
	if &odd.Items.Data[0] == &data[1] {
		t.Error("not copied although it is not aligned")
	}
}

// Releases before 12 left the innermost lists out when all their items are null.
func TestZipNulls(t *testing.T) {
	floats := func() *Values { return &Values{Kind: Fixed, Bits: 32, Limit: unlimited} }
	for name, c := range map[string]struct {
		enc  enc
		dst  *Values
		data []byte
		want string // "" when refused
	}{
		"lists":                {constantOf(nil), lists(2, floats()), nil, "[[(null) (null)] [(null) (null)]]"},
		"no block yet":         {constantOf(nil), &Values{Limit: unlimited}, nil, "[[(null) (null)] [(null) (null)]]"},
		"known lists":          {listOf(2, true, constantOf(nil)), lists(2, floats()), []byte{0, 0}, "[[(null) (null)] [(null) (null)]]"},
		"values":               {constantOf(nil), floats(), nil, ""},
		"lists, no validity":   {listOf(2, false, constantOf(nil)), lists(2, floats()), nil, ""},
		"of another dimension": {listOf(3, true, constantOf(nil)), lists(2, fixed(32, 2)), []byte{0, 0}, ""},
	} {
		z := mustZip(t, c.enc)
		if z.Bits() != 4*len(c.data) {
			t.Errorf("%s: %d bits", name, z.Bits())
		}
		err := z.AppendFixed(c.dst, c.data, 2)
		if c.want == "" {
			if !errors.Is(err, column.ErrUnsupported) && !errors.Is(err, column.ErrCorrupt) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a, err := c.dst.Array(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), nil, 0)
		if err != nil || fmt.Sprint(a) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, a, err, c.want)
		}
	}
	inner := lists(2, floats())
	nested := lists(3, inner)
	z := mustZip(t, listOf(3, true, constantOf(nil)))
	if err := z.AppendFixed(nested, []byte{0b110, 0b011}, 2); err != nil {
		t.Fatal(err)
	}
	a, err := nested.Array(arrow.FixedSizeListOf(3, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)), nil, 0)
	if want := "[[(null) [(null) (null)] [(null) (null)]] [[(null) (null)] [(null) (null)] (null)]]"; err != nil || fmt.Sprint(a) != want {
		t.Errorf("%v, %v, want %s", a, err, want)
	}
}
