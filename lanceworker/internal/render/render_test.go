package render

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// build makes an array of one type; fill gets its builder.
func build[B array.Builder](t *testing.T, dt arrow.DataType, fill func(B)) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	fill(b.(B))
	a := b.NewArray()
	t.Cleanup(a.Release)
	return a
}

// fromJSON makes an array from Arrow's own JSON form.
func fromJSON(t *testing.T, dt arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Release)
	return a
}

func plain(dt arrow.DataType) arrow.Field { return arrow.Field{Type: dt, Nullable: true} }

func TestValues(t *testing.T) {
	vec := arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32)
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: `b"`, Type: arrow.BinaryTypes.String, Nullable: true})
	for name, c := range map[string]struct {
		array      arrow.Array
		text, json string
	}{
		"null":       {fromJSON(t, arrow.PrimitiveTypes.Int64, `[null]`), "", `null`},
		"null type":  {array.NewNull(1), "", `null`},
		"bool":       {fromJSON(t, arrow.FixedWidthTypes.Boolean, `[true]`), "true", `true`},
		"int8":       {fromJSON(t, arrow.PrimitiveTypes.Int8, `[-128]`), "-128", `-128`},
		"int64":      {fromJSON(t, arrow.PrimitiveTypes.Int64, `[-9223372036854775808]`), "-9223372036854775808", `-9223372036854775808`},
		"uint64":     {build(t, arrow.PrimitiveTypes.Uint64, func(b *array.Uint64Builder) { b.Append(math.MaxUint64) }), "18446744073709551615", `18446744073709551615`},
		"float16":    {build(t, arrow.FixedWidthTypes.Float16, func(b *array.Float16Builder) { b.Append(float16.New(0.5)) }), "0.5", `0.5`},
		"float16s":   {build(t, arrow.FixedWidthTypes.Float16, func(b *array.Float16Builder) { b.Append(float16.FromBits(0x8001)) }), "-5.9604645e-08", `-5.9604645e-08`},
		"float32":    {build(t, arrow.PrimitiveTypes.Float32, func(b *array.Float32Builder) { b.Append(0.1) }), "0.1", `0.1`},
		"float64":    {build(t, arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) { b.Append(1) }), "1.0", `1.0`},
		"minus zero": {build(t, arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) { b.Append(math.Copysign(0, -1)) }), "-0.0", `-0.0`},
		"huge":       {build(t, arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) { b.Append(1e300) }), "1e+300", `1e+300`},
		"tiny":       {build(t, arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) { b.Append(5e-324) }), "5e-324", `5e-324`},
		"NaN":        {build(t, arrow.PrimitiveTypes.Float32, func(b *array.Float32Builder) { b.Append(float32(math.NaN())) }), "NaN", `"NaN"`},
		"infinity":   {build(t, arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) { b.Append(math.Inf(-1)) }), "-Infinity", `"-Infinity"`},
		"decimal":    {fromJSON(t, &arrow.Decimal128Type{Precision: 12, Scale: 2}, `["-12.30"]`), "-12.30", `"-12.30"`},
		"decimal256": {fromJSON(t, &arrow.Decimal256Type{Precision: 60, Scale: 3}, `["12345678901234567890123456789012345678901234567890.125"]`),
			"12345678901234567890123456789012345678901234567890.125", `"12345678901234567890123456789012345678901234567890.125"`},
		"text":       {fromJSON(t, arrow.BinaryTypes.String, `["a\n\"ü\u001b"]`), `a\n"ü\x1b`, `"a\n\"ü\u001b"`},
		"empty":      {fromJSON(t, arrow.BinaryTypes.LargeString, `[""]`), "", `""`},
		"no UTF-8":   {build(t, arrow.BinaryTypes.String, func(b *array.StringBuilder) { b.Append("a\xffb") }), `a\xffb`, `{"bytes":3,"base64":"Yf9i"}`},
		"binary":     {build(t, arrow.BinaryTypes.Binary, func(b *array.BinaryBuilder) { b.Append([]byte("hello")) }), "5 bytes: 68656c6c6f", `{"bytes":5,"base64":"aGVsbG8="}`},
		"one byte":   {build(t, arrow.BinaryTypes.LargeBinary, func(b *array.BinaryBuilder) { b.Append([]byte{0}) }), "1 byte: 00", `{"bytes":1,"base64":"AA=="}`},
		"no bytes":   {build(t, &arrow.FixedSizeBinaryType{ByteWidth: 0}, func(b *array.FixedSizeBinaryBuilder) { b.Append(nil) }), "0 bytes", `{"bytes":0,"base64":""}`},
		"dictionary": {fromJSON(t, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["red"]`), "red", `"red"`},
		"vector":     {fromJSON(t, vec, `[[0.5, null, 2]]`), "[0.5, null, 2.0]", `[0.5,null,2.0]`},
		"lists":      {fromJSON(t, arrow.ListOf(arrow.LargeListOf(arrow.BinaryTypes.String)), `[[["a", null], null, []]]`), `[["a", null], null, []]`, `[["a",null],null,[]]`},
		"struct":     {fromJSON(t, pair, `[{"a": 1, "b\"": "x\ny"}]`), `{"a": 1, "b\"": "x\ny"}`, `{"a":1,"b\"":"x\ny"}`},
		"map":        {fromJSON(t, arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key": "k", "value": 1}, {"key": "l", "value": null}]]`), `{"k": 1, "l": null}`, `[{"key":"k","value":1},{"key":"l","value":null}]`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, style := range []Text{{Bytes: 200}, {}} {
				if got := style.Value(c.array, plain(c.array.DataType()), 0); got != c.text {
					t.Errorf("text %s, want %s", got, c.text)
				}
			}
			for _, style := range []JSON{{}, {Full: true}} {
				if got := string(style.Append(nil, c.array, plain(c.array.DataType()), 0)); got != c.json {
					t.Errorf("JSON %s, want %s", got, c.json)
				}
			}
		})
	}
}

// Rows of slices, also of those whose values are behind offsets, are their own.
func TestSlices(t *testing.T) {
	for _, c := range []struct {
		array arrow.Array
		want  string
	}{
		{fromJSON(t, arrow.ListOf(arrow.PrimitiveTypes.Int8), `[[1], [2, 3], [4]]`), `[2,3]`},
		{fromJSON(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1, 2], [3, 4], [5, 6]]`), `[3,4]`},
		{fromJSON(t, arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8}), `[{"a": 1}, {"a": 2}, {"a": 3}]`), `{"a":2}`},
		{fromJSON(t, arrow.MapOf(arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int8), `[[{"key": 1, "value": 1}], [{"key": 2, "value": 3}], []]`), `[{"key":2,"value":3}]`},
		{fromJSON(t, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["a", "b", "c"]`), `"b"`},
	} {
		s := array.NewSlice(c.array, 1, 3)
		if got := string(JSON{}.Append(nil, s, plain(s.DataType()), 0)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.array.DataType(), got, c.want)
		}
		s.Release()
	}
}

func TestShortened(t *testing.T) {
	long := strings.Repeat("ü", 500)
	floats := "[" + strings.TrimSuffix(strings.Repeat("0.25,", 768), ",") + "]"
	vector := fromJSON(t, arrow.FixedSizeListOf(768, arrow.PrimitiveTypes.Float32), "["+floats+"]")
	bytes := build(t, arrow.BinaryTypes.Binary, func(b *array.BinaryBuilder) { b.Append(make([]byte, 100)) })
	text := fromJSON(t, arrow.BinaryTypes.String, `["`+long+`"]`)
	nested := fromJSON(t, arrow.ListOf(arrow.BinaryTypes.String), `[["`+long+`"]]`)
	entries := strings.TrimSuffix(strings.Repeat(`{"key": 1, "value": 2},`, 20), ",")
	maps := fromJSON(t, arrow.MapOf(arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int8), "[["+entries+"]]")
	deep := fromJSON(t, arrow.ListOf(arrow.FixedSizeListOf(768, arrow.PrimitiveTypes.Float32)), "[["+floats+"]]")
	for name, c := range map[string]struct {
		array      arrow.Array
		text, json string
	}{
		"vector": {vector, "[0.25, 0.25, 0.25, 0.25, … 768 values]", `[0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,"… 768 values"]`},
		"binary": {bytes, "100 bytes: 000000000000000000000000…", `{"bytes":100,"base64":"` + strings.Repeat("A", 64) + `…"}`},
		"text":   {text, long[:182] + "… (1000 bytes)", `"` + long[:256] + `… (1000 bytes)"`},
		"nested": {nested, `["` + long[:48] + `…"]`, `["` + long[:256] + `… (1000 bytes)"]`},
		"map":    {maps, "{1: 2, 1: 2, 1: 2, 1: 2, … 20 entries}", "[" + strings.Repeat(`{"key":1,"value":2},`, 8) + `"… 20 entries"]`},
		"deep":   {deep, "[[0.25, 0.25, 0.25, 0.25, … 768 values]]", `[[0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,"… 768 values"]]`},
	} {
		f := plain(c.array.DataType())
		if got := (Text{Bytes: 198}).Value(c.array, f, 0); got != c.text {
			t.Errorf("%s: text %s\nwant %s", name, got, c.text)
		}
		if got := string(JSON{}.Append(nil, c.array, f, 0)); got != c.json {
			t.Errorf("%s: JSON %s\nwant %s", name, got, c.json)
		}
		for _, whole := range []string{Text{}.Value(c.array, f, 0), string(JSON{Full: true}.Append(nil, c.array, f, 0))} {
			if strings.Contains(whole, more) {
				t.Errorf("%s: something is missing of %s", name, whole)
			}
		}
	}
}

// However wide and deep a value is, its text keeps to the limit and costs
// little.
func TestTextKeepsToItsLimit(t *testing.T) {
	var members []arrow.Field
	var row strings.Builder
	for i := range 5000 {
		members = append(members, arrow.Field{Name: fmt.Sprintf("名前%d", i), Type: arrow.BinaryTypes.String, Nullable: true})
		fmt.Fprintf(&row, `,"名前%d":"ü\u0000ü"`, i)
	}
	a := fromJSON(t, arrow.ListOf(arrow.StructOf(members...)), "[[{"+row.String()[1:]+"}]]")
	for limit := range 400 {
		got := Text{Bytes: limit + 1}.Value(a, plain(a.DataType()), 0)
		if most := max(limit+1, 32); len(got) > most || len(got) < most-8 || !utf8.ValidString(got) || !strings.HasSuffix(got, more) {
			t.Fatalf("limit %d: %d bytes: %s", limit+1, len(got), got)
		}
	}
	if n := testing.AllocsPerRun(10, func() { Text{Bytes: 200}.Value(a, plain(a.DataType()), 0) }); n > 50 {
		t.Errorf("%v allocations for 200 bytes", n)
	}
}

// The number of values stays on show where there is little room.
func TestVectorInLittleRoom(t *testing.T) {
	a := fromJSON(t, arrow.FixedSizeListOf(9, arrow.PrimitiveTypes.Float64), "[[0.123456789, -1.23456789e-10, 2, 3, 4, 5, 6, 7, 8]]")
	for limit, want := range map[int]string{
		32: "[0.123456789, … 9 values]",
		48: "[0.123456789, -1.23456789e-10, … 9 values]",
		49: "[0.123456789, -1.23456789e-10, 2.0, … 9 values]",
		56: "[0.123456789, -1.23456789e-10, 2.0, 3.0, … 9 values]",
	} {
		if got := (Text{Bytes: limit}).Value(a, plain(a.DataType()), 0); got != want {
			t.Errorf("in %d bytes: %s (%d)", limit, got, len(got))
		}
	}
}

func TestNullStyle(t *testing.T) {
	a := fromJSON(t, arrow.BinaryTypes.String, `[null]`)
	if got := (Text{Null: "-"}).Value(a, plain(a.DataType()), 0); got != "-" {
		t.Errorf("null is %q", got)
	}
}

func TestExtensions(t *testing.T) {
	meta := func(k, v string) arrow.Metadata { return arrow.NewMetadata([]string{k}, []string{v}) }
	half := build(t, &arrow.FixedSizeBinaryType{ByteWidth: 2}, func(b *array.FixedSizeBinaryBuilder) { b.Append([]byte{0xc0, 0x3f}) })
	if got := (Text{}).Value(half, arrow.Field{Metadata: meta(extensionKey, bfloat16)}, 0); got != "1.5" {
		t.Errorf("bfloat16 %s", got)
	}
	// The document {"a":1}, and bytes that are none.
	document := build(t, arrow.BinaryTypes.LargeBinary, func(b *array.BinaryBuilder) {
		b.Append([]byte{0x40, 0, 0, 1, 0x10, 0, 0, 1, 0x20, 0, 0, 2, 'a', 0x50, 1})
		b.Append([]byte("oh"))
	})
	for i, want := range []string{`{"a":1}`, "2 bytes: 6f68"} {
		if got := (Text{Bytes: 100}).Value(document, arrow.Field{Metadata: meta(extensionKey, binaryJSON)}, i); got != want {
			t.Errorf("JSON %s, want %s", got, want)
		}
	}
	blob := fromJSON(t, arrow.StructOf(arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64}, arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64}), `[{"position": 64, "size": 1234}, null]`)
	for i, want := range []string{"blob, 1234 bytes", ""} {
		if got := (Text{Bytes: 100}).Value(blob, arrow.Field{Metadata: meta("lance-encoding:blob", "true")}, i); got != want {
			t.Errorf("blob %q, want %q", got, want)
		}
	}
	if got := (Text{Bytes: 100}).Value(blob, arrow.Field{}, 0); got != `{"position": 64, "size": 1234}` {
		t.Errorf("struct %s", got)
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{date(0), "1970-01-01"},
		{date(-719528), "0000-01-01"},
		{date(2932896), "9999-12-31"},
		{date(math.MaxInt32), "2147483647 days since 1970"},
		{dateOfMillis(86400000), "1970-01-02"},
		{dateOfMillis(1), "1970-01-01T00:00:00.001"},
		{clock(0, arrow.Second), "00:00:00"},
		{clock(86399999999, arrow.Microsecond), "23:59:59.999999"},
		{clock(1, arrow.Nanosecond), "00:00:00.000000001"},
		{clock(-1, arrow.Second), "-1 s"},
		{clock(86400, arrow.Second), "86400 s"},
		{instant(-1, arrow.Millisecond, ""), "1969-12-31T23:59:59.999"},
		{instant(1704067200000000, arrow.Microsecond, "UTC"), "2024-01-01T00:00:00Z"},
		{instant(1704067200, arrow.Second, "+05:30"), "2024-01-01T05:30:00+05:30"},
		{instant(1704067200, arrow.Second, "-08"), "2023-12-31T16:00:00-08:00"},
		{instant(1704067200, arrow.Second, "No/Where"), "2024-01-01T00:00:00Z"},
		{instant(1704067200, arrow.Second, "local"), "2024-01-01T00:00:00Z"},
		{instant(math.MinInt64, arrow.Nanosecond, "UTC"), "1677-09-21T00:12:43.145224192Z"},
		{instant(math.MaxInt64, arrow.Second, "UTC"), "9223372036854775807 s since 1970"},
		{instant(math.MinInt64, arrow.Microsecond, ""), "-9223372036854775808 us since 1970"},
		{duration(1500, arrow.Millisecond), "PT1.500S"},
		{duration(-1500, arrow.Millisecond), "PT-1.500S"},
		{duration(-1, arrow.Nanosecond), "PT-0.000000001S"},
		{duration(90, arrow.Second), "PT90S"},
		{duration(math.MinInt64, arrow.Second), "PT-9223372036854775808S"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{"", `"\/`, "\x00\x1f\x7f\u2028ü𝄞", "\r\n\t"} {
		var back string
		if err := json.Unmarshal(AppendString(nil, s), &back); err != nil || back != s {
			t.Errorf("%q came back as %q (%v)", s, back, err)
		}
	}
}
