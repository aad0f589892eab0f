package scan

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// gather copies runs of rows, which ascend, into an array of their own.
func gather(d arrow.ArrayData, runs []run) (arrow.ArrayData, error) {
	n := 0
	for _, r := range runs {
		n += r.n
	}
	valid, nulls := gatherValid(d, runs, n)
	buffers := []*memory.Buffer{valid}
	var kids []arrow.ArrayData
	switch t := d.DataType().(type) {
	case *arrow.NullType:
		return array.NewData(t, n, []*memory.Buffer{nil}, nil, n, 0), nil
	case *arrow.StructType:
		for _, c := range d.Children() {
			kid, err := gather(c, shifted(runs, d.Offset()))
			if err != nil {
				return nil, err
			}
			kids = append(kids, kid)
		}
	case *arrow.FixedSizeListType:
		kid, err := gather(d.Children()[0], scaled(shifted(runs, d.Offset()), int(t.Len())))
		if err != nil {
			return nil, err
		}
		kids = append(kids, kid)
	case *arrow.ListType, *arrow.MapType, *arrow.LargeListType:
		var err error
		offsets, items := gatherOffsets(d, runs, n)
		if kids, err = gatherKids(d, items); err != nil {
			return nil, err
		}
		buffers = append(buffers, offsets)
	case arrow.BinaryDataType: // strings, too
		offsets, pieces := gatherOffsets(d, runs, n)
		buffers = append(buffers, offsets, gatherBytes(d.Buffers()[2], pieces, 1))
	case arrow.FixedWidthDataType: // dictionaries, too
		buffers = append(buffers, gatherFixed(d, runs, n, t.BitWidth()))
		if _, ok := t.(*arrow.DictionaryType); ok {
			return array.NewDataWithDictionary(t, n, buffers, nulls, 0, d.Dictionary().(*array.Data)), nil
		}
	default:
		return nil, fmt.Errorf("%w: leaving rows out of a column of type %s", column.ErrUnsupported, t)
	}
	return array.NewData(d.DataType(), n, buffers, kids, nulls, 0), nil
}

func gatherKids(d arrow.ArrayData, items []run) ([]arrow.ArrayData, error) {
	kid, err := gather(d.Children()[0], items)
	if err != nil {
		return nil, err
	}
	return []arrow.ArrayData{kid}, nil
}

func shifted(runs []run, by int) []run {
	if by == 0 {
		return runs
	}
	out := make([]run, len(runs))
	for i, r := range runs {
		out[i] = run{r.from + by, r.n}
	}
	return out
}

func scaled(runs []run, by int) []run {
	out := make([]run, len(runs))
	for i, r := range runs {
		out[i] = run{r.from * by, r.n * by}
	}
	return out
}

// gatherValid gathers the validity bitmap; nil when nothing is null.
func gatherValid(d arrow.ArrayData, runs []run, n int) (*memory.Buffer, int) {
	if len(d.Buffers()) == 0 || d.Buffers()[0] == nil || d.Buffers()[0].Len() == 0 {
		return nil, 0
	}
	bits := gatherBits(d.Buffers()[0].Bytes(), d.Offset(), runs, n)
	nulls := n - bitutil.CountSetBits(bits, 0, n)
	if nulls == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(bits), nulls
}

func gatherBits(from []byte, offset int, runs []run, n int) []byte {
	to := make([]byte, bitutil.BytesForBits(int64(n)))
	at := 0
	for _, r := range runs {
		bitutil.CopyBitmap(from, offset+r.from, r.n, to, at)
		at += r.n
	}
	return to
}

func gatherFixed(d arrow.ArrayData, runs []run, n, bits int) *memory.Buffer {
	from := d.Buffers()[1]
	if bits == 1 {
		return memory.NewBufferBytes(gatherBits(from.Bytes(), d.Offset(), runs, n))
	}
	return gatherBytes(from, shifted(runs, d.Offset()), bits/8)
}

// gatherBytes copies runs of values of a width.
func gatherBytes(from *memory.Buffer, runs []run, width int) *memory.Buffer {
	n := 0
	for _, r := range runs {
		n += r.n * width
	}
	to := make([]byte, 0, n)
	for _, r := range runs {
		if r.n > 0 && width > 0 {
			to = append(to, from.Bytes()[r.from*width:(r.from+r.n)*width]...)
		}
	}
	return memory.NewBufferBytes(to)
}

// gatherOffsets makes the offsets of gathered lists or strings, and the runs of
// their items.
func gatherOffsets(d arrow.ArrayData, runs []run, n int) (*memory.Buffer, []run) {
	width := column.OffsetWidth(d.DataType())
	to := make([]byte, 0, (n+1)*width)
	var items []run
	at, sum := offsetsOf(d), int64(0)
	to = appendOffset(to, width, 0)
	for _, r := range runs {
		first := at(r.from)
		for i := r.from + 1; i <= r.from+r.n; i++ {
			to = appendOffset(to, width, sum+at(i)-first)
		}
		size := at(r.from+r.n) - first
		sum += size
		switch last := len(items) - 1; {
		case size == 0:
		case last >= 0 && int64(items[last].from+items[last].n) == first:
			items[last].n += int(size)
		default:
			items = append(items, run{int(first), int(size)})
		}
	}
	return memory.NewBufferBytes(to), items
}

func appendOffset(b []byte, width int, v int64) []byte {
	if width == 8 {
		return binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return binary.LittleEndian.AppendUint32(b, uint32(v))
}

// offsetsOf reads the offsets of an array's rows. An array without rows may have none.
func offsetsOf(d arrow.ArrayData) func(i int) int64 {
	buf := d.Buffers()[1]
	if buf == nil || buf.Len() == 0 {
		return func(int) int64 { return 0 }
	}
	b := buf.Bytes()
	if column.OffsetWidth(d.DataType()) == 8 {
		b = b[d.Offset()*8:]
		return func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[i*8:])) }
	}
	b = b[d.Offset()*4:]
	return func(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(b[i*4:]))) }
}
