package scan

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/jsonb"
)

// Lance stores JSON in a binary form and hands it out as text, under Arrow's own
// extension type.
const (
	logicalJSON   = "json"
	keyExtension  = "ARROW:extension:name"
	extensionJSON = "arrow.json"
)

// jsonText makes text of stored JSON. left is how many bytes it may take.
func jsonText(d arrow.ArrayData, left int64) (arrow.ArrayData, error) {
	a, ok := array.MakeFromData(d).(*array.LargeBinary)
	if !ok {
		return nil, fmt.Errorf("%w: JSON is stored as %s", errCorrupt, d.DataType())
	}
	defer a.Release()
	n := a.Len()
	if int64(n) > left/4-1 {
		return nil, fmt.Errorf("%w: %d JSON documents", column.ErrLimit, n)
	}
	left = min(left-4*int64(n+1), math.MaxInt32)
	offsets := make([]int32, 1, n+1)
	var text []byte
	for i := range n {
		if a.IsValid(i) {
			var err error
			if text, err = jsonb.Append(text, a.Value(i)); err != nil {
				return nil, fmt.Errorf("%w: value %d: %w", errCorrupt, i, err)
			}
			if int64(len(text)) > left {
				return nil, fmt.Errorf("%w: JSON documents of more than %d bytes", column.ErrLimit, left)
			}
		}
		offsets = append(offsets, int32(len(text)))
	}
	valid, nulls := gatherValid(d, []run{{n: n}}, n)
	bufs := []*memory.Buffer{valid, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(text)}
	return array.NewData(arrow.BinaryTypes.String, n, bufs, nil, nulls, 0), nil
}
