package render

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/jsonb"
)

// extensionKey is the metadata key under which Arrow and Lance keep the name of
// an extension type; the others are the extensions whose storage says nothing to a reader.
const (
	extensionKey = "ARROW:extension:name"
	bfloat16     = "lance.bfloat16"
	binaryJSON   = "lance.json"
)

// leaf is a value that has no parts.
func leaf(a arrow.Array, f arrow.Field, i int) value {
	switch a := a.(type) {
	case *array.Boolean:
		return literal(strconv.FormatBool(a.Value(i)))
	case *array.Int8:
		return integer(int64(a.Value(i)))
	case *array.Int16:
		return integer(int64(a.Value(i)))
	case *array.Int32:
		return integer(int64(a.Value(i)))
	case *array.Int64:
		return integer(a.Value(i))
	case *array.Uint8:
		return integer(int64(a.Value(i)))
	case *array.Uint16:
		return integer(int64(a.Value(i)))
	case *array.Uint32:
		return integer(int64(a.Value(i)))
	case *array.Uint64:
		return literal(strconv.FormatUint(a.Value(i), 10))
	case *array.Float16:
		return float(half(a.Value(i)), 32)
	case *array.Float32:
		return float(float64(a.Value(i)), 32)
	case *array.Float64:
		return float(a.Value(i), 64)
	case *array.String:
		return value{shape: isString, text: a.Value(i)}
	case *array.LargeString:
		return value{shape: isString, text: a.Value(i)}
	case *array.StringView:
		return value{shape: isString, text: a.Value(i)}
	case *array.Binary:
		return value{shape: isBinary, bytes: a.Value(i)}
	case *array.LargeBinary:
		if extension(f) == binaryJSON {
			if text, err := jsonb.Append(nil, a.Value(i)); err == nil {
				return value{shape: isString, text: string(text)}
			}
		}
		return value{shape: isBinary, bytes: a.Value(i)}
	case *array.BinaryView:
		return value{shape: isBinary, bytes: a.Value(i)}
	case *array.FixedSizeBinary:
		b := a.Value(i)
		if len(b) == 2 && extension(f) == bfloat16 {
			return float(float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b))<<16)), 32)
		}
		return value{shape: isBinary, bytes: b}
	case *array.Decimal128:
		return word(a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Decimal256:
		return word(a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale))
	case *array.Date32:
		return word(date(int64(a.Value(i))))
	case *array.Date64:
		return word(dateOfMillis(int64(a.Value(i))))
	case *array.Time32:
		return word(clock(int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit))
	case *array.Time64:
		return word(clock(int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit))
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		return word(instant(int64(a.Value(i)), t.Unit, t.TimeZone))
	case *array.Duration:
		return word(duration(int64(a.Value(i)), a.DataType().(*arrow.DurationType).Unit))
	}
	// Types that no Lance table has today.
	return value{shape: isString, text: a.ValueStr(i)}
}

func extension(f arrow.Field) string {
	name, _ := f.Metadata.GetValue(extensionKey)
	return name
}

func literal(text string) value { return value{shape: isLiteral, text: text} }

func word(text string) value { return value{shape: isWord, text: text} }

func integer(v int64) value { return literal(strconv.FormatInt(v, 10)) }

// float writes the shortest text that reads back as the same value.
func float(v float64, bits int) value {
	switch {
	case math.IsNaN(v):
		return word("NaN")
	case math.IsInf(v, 1):
		return word("Infinity")
	case math.IsInf(v, -1):
		return word("-Infinity")
	}
	// Very large and very small ones as powers of ten, as in JavaScript.
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		return literal(strconv.FormatFloat(v, 'e', -1, bits))
	}
	text := strconv.FormatFloat(v, 'f', -1, bits)
	if v == math.Trunc(v) {
		text += ".0"
	}
	return literal(text)
}

// half is the value of a float16. Arrow's own conversion is wrong below 2^-14.
func half(f float16.Num) float64 {
	bits := f.Uint16()
	if bits&0x7c00 != 0 {
		return float64(f.Float32())
	}
	v := math.Ldexp(float64(bits&0x3ff), -24)
	if bits&0x8000 != 0 {
		return math.Copysign(v, -1)
	}
	return v
}
