package layout

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// packedOf makes structs of some of which are null, but none of their fields.
func packedOf(v values, n, nulls int, types ...arrow.DataType) arrow.Array {
	var fields []arrow.Field
	for i, dt := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: dt})
	}
	b := array.NewStructBuilder(memory.DefaultAllocator, arrow.StructOf(fields...))
	defer b.Release()
	for range n {
		if nulls > 0 && v.r.IntN(nulls) == 0 {
			b.AppendNull() // and one in each field
			continue
		}
		b.Append(true)
		for i := range types {
			v.append(b.FieldBuilder(i))
		}
	}
	return b.NewArray()
}

func TestWritePacked(t *testing.T) {
	i32, i64, text := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	vector := arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Float32)
	for _, c := range []struct {
		types  []arrow.DataType
		layout string
		// since is the first version that has them.
		since int
	}{
		{[]arrow.DataType{i32, i64, arrow.PrimitiveTypes.Uint16}, "mini-block", 1},
		{[]arrow.DataType{&arrow.FixedSizeBinaryType{ByteWidth: 300}, i32}, "mini-block", 1},
		{[]arrow.DataType{i32, text}, "full-zip", 2},
		{[]arrow.DataType{i32, vector}, "full-zip", 2},
		{[]arrow.DataType{arrow.BinaryTypes.LargeBinary, i64, text}, "full-zip", 2},
		{[]arrow.DataType{i32, arrow.FixedWidthTypes.Boolean}, "", 3},
	} {
		for minor := 1; minor <= 2; minor++ {
			for _, nulls := range []int{0, 4} {
				t.Run(fmt.Sprint(c.types, minor, nulls), func(t *testing.T) {
					v := values{r: rand.New(rand.NewPCG(7, uint64(nulls))), long: true}
					a := packedOf(v, 500, nulls, c.types...)
					defer a.Release()
					f := arrow.Field{Name: "f", Type: a.DataType(), Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"lance-encoding:packed": "true"})}
					if minor < c.since {
						next := 0
						w, err := NewWriter(fieldOf(f, &next), minor, new(memoryFile), column.WriteOptions{})
						if err == nil {
							if err = w.Append(a, 0, a.Len()); err == nil {
								err = w.Flush()
							}
						}
						if !errors.Is(err, column.ErrUnsupported) {
							t.Errorf("%v", err)
						}
						return
					}
					r, file := written(t, f, a, minor, column.WriteOptions{PageBytes: 10_000}, 3)
					for _, l := range layoutsOf(r) {
						if l != c.layout {
							t.Errorf("layout %s, want %s", l, c.layout)
						}
					}
					same(t, r, file, a, v.r)
				})
			}
		}
	}
}
