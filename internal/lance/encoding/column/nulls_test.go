package column

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func TestNulls(t *testing.T) {
	field := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "f", Type: t, Nullable: true} }
	for _, dt := range []arrow.DataType{
		arrow.Null,
		arrow.FixedWidthTypes.Boolean,
		&arrow.FixedSizeBinaryType{},
		&arrow.Decimal256Type{Precision: 50, Scale: 2},
		arrow.BinaryTypes.LargeString,
		arrow.StructOf(field(arrow.Null), field(arrow.BinaryTypes.String)),
		arrow.StructOf(),
		arrow.ListOf(arrow.Null),
		arrow.FixedSizeListOf(3, arrow.StructOf(field(arrow.ListOf(arrow.Null)))),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.Null),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.Null},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
	} {
		var z Zeros
		for _, n := range []int{0, 1, 13} {
			d, err := z.Nulls(dt, n, 1<<20)
			if err != nil {
				t.Errorf("%d of %s: %v", n, dt, err)
				continue
			}
			a := array.MakeFromData(d)
			if a.Len() != n || a.NullN() != n || !arrow.TypeEqual(a.DataType(), dt) {
				t.Errorf("%d of %s: %v", n, dt, a)
			}
			if v, ok := a.(interface{ ValidateFull() error }); ok {
				if err := v.ValidateFull(); err != nil {
					t.Errorf("%d of %s: %v", n, dt, err)
				}
			}
		}
	}
}

func TestNullsLimit(t *testing.T) {
	var z Zeros
	for _, dt := range []arrow.DataType{
		arrow.PrimitiveTypes.Int64,
		arrow.BinaryTypes.LargeString,
		arrow.FixedSizeListOf(1<<26, arrow.PrimitiveTypes.Int8),
		arrow.FixedSizeListOf(1<<26, arrow.FixedSizeListOf(1<<26, arrow.PrimitiveTypes.Int8)),
	} {
		if _, err := z.Nulls(dt, 1000, 7999); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: error %v", dt, err)
		}
	}
}
