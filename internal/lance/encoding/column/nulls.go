package column

import (
	"fmt"
	"math"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Zeros makes arrays of nulls. They share zero bytes, the same ones again and again.
// The zero value is ready; it may be used from many goroutines at once.
type Zeros struct {
	mu sync.Mutex
	b  []byte
}

func (z *Zeros) buffer(n int64) *memory.Buffer {
	z.mu.Lock()
	defer z.mu.Unlock()
	if int64(len(z.b)) < n {
		z.b = make([]byte, n)
	}
	return memory.NewBufferBytes(z.b[:n:n])
}

// Nulls is an array of n nulls, of any type that Lance has. ErrLimit when one of its buffers would take
// more than limit bytes.
func (z *Zeros) Nulls(dt arrow.DataType, n int, limit int64) (arrow.ArrayData, error) {
	t := Storage(dt)
	d, err := z.nulls(t, n, limit)
	if err != nil || t == dt {
		return d, err
	}
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		return array.NewDataWithDictionary(dt, n, d.Buffers(), d.NullN(), 0, dict), nil
	}
	return array.NewData(dt, n, d.Buffers(), d.Children(), d.NullN(), 0), nil
}

// nulls is Nulls of a type that is no extension.
func (z *Zeros) nulls(t arrow.DataType, n int, limit int64) (arrow.ArrayData, error) {
	if t.ID() == arrow.NULL {
		return array.NewData(t, n, []*memory.Buffer{nil}, nil, n, 0), nil
	}
	var data, width int64 // of the buffer behind the validity
	buffers := 2
	var kids []arrow.ArrayData
	kid := func(t arrow.DataType, n int64) error {
		if n > math.MaxInt32 {
			return fmt.Errorf("%w: %d nulls", ErrLimit, n)
		}
		k, err := z.Nulls(t, int(n), limit)
		kids = append(kids, k)
		return err
	}
	var err error
	switch t := t.(type) {
	case *arrow.StructType:
		buffers = 1
		for _, f := range t.Fields() {
			if err = kid(f.Type, int64(n)); err != nil {
				return nil, err
			}
		}
	case *arrow.FixedSizeListType:
		buffers = 1
		err = kid(t.Elem(), int64(n)*int64(t.Len()))
	case arrow.ListLikeType:
		width, data = int64(OffsetWidth(t)), int64(n)+1
		err = kid(t.Elem(), 0)
	case arrow.BinaryDataType:
		width, data, buffers = int64(OffsetWidth(t)), int64(n)+1, 3
	case arrow.FixedWidthDataType:
		width, data = int64(t.BitWidth()), int64(n)
		data, width = bitutil.BytesForBits(data*width), 1
	default:
		err = fmt.Errorf("%w: nulls of type %s", ErrUnsupported, t)
	}
	if err != nil {
		return nil, err
	}
	if data*width > limit {
		return nil, fmt.Errorf("%w: %d nulls of type %s", ErrLimit, n, t)
	}
	bufs := make([]*memory.Buffer, buffers)
	bufs[0] = z.buffer(bitutil.BytesForBits(int64(n)))
	if buffers > 1 {
		bufs[1] = z.buffer(data * width)
	}
	if buffers > 2 {
		bufs[2] = z.buffer(0)
	}
	if d, ok := t.(*arrow.DictionaryType); ok {
		dict, err := z.Nulls(d.ValueType, 0, limit)
		if err != nil {
			return nil, err
		}
		return array.NewDataWithDictionary(t, n, bufs, n, 0, dict.(*array.Data)), nil
	}
	return array.NewData(t, n, bufs, kids, n, 0), nil
}
