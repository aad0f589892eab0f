package layout

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// Merge makes one array of type dt of parts that each hold some of its leaves, and
// no leaf twice: arrays of the same shape with fewer fields in their structs. What
// no part holds is null. What several hold, validity and offsets, must agree.
// Arrays of maps may have come apart to lists of structs. limit bounds the bytes of what has to be
// made anew. The parts are not released.
func Merge(dt arrow.DataType, rows int, parts []arrow.Array, limit int64) (arrow.Array, error) {
	data := make([]arrow.ArrayData, len(parts))
	for i, p := range parts {
		data[i] = p.Data()
	}
	m := merger{limit: limit}
	out, err := m.merge(dt, rows, data)
	if err != nil {
		return nil, err
	}
	defer out.Release()
	return array.MakeFromData(out), nil
}

type merger struct{ limit int64 }

// merge returns data that the caller releases.
func (m *merger) merge(dt arrow.DataType, n int, parts []arrow.ArrayData) (arrow.ArrayData, error) {
	if len(parts) == 0 {
		return m.nulls(dt, n)
	}
	for _, p := range parts {
		if p.Len() != n {
			return nil, fmt.Errorf("%w: %d and %d values of what should be the same", column.ErrCorrupt, p.Len(), n)
		}
	}
	first := parts[0]
	if _, nested := column.Storage(dt).(arrow.NestedType); len(parts) == 1 && !nested && arrow.TypeEqual(first.DataType(), dt) {
		first.Retain()
		return first, nil
	}
	for _, p := range parts[1:] {
		if err := sameValidity(first, p); err != nil {
			return nil, err
		}
	}
	switch st := column.Storage(dt).(type) {
	case *arrow.StructType:
		return m.structs(dt, st, n, parts)
	case *arrow.FixedSizeListType:
		return m.lists(dt, st.Elem(), n*int(st.Len()), parts)
	case *arrow.ListType:
		return m.lists(dt, st.Elem(), -1, parts)
	case *arrow.LargeListType:
		return m.lists(dt, st.Elem(), -1, parts)
	case *arrow.MapType:
		return m.lists(dt, st.Elem(), -1, parts)
	}
	if len(parts) > 1 {
		return nil, corrupt("%d columns of %v to merge", len(parts), dt)
	}
	if !arrow.TypeEqual(column.Storage(first.DataType()), column.Storage(dt)) {
		return nil, fmt.Errorf("an array of %v where %v is wanted", first.DataType(), dt)
	}
	return retype(dt, first, first.Children()), nil
}

// retype is the same data with another type and other children.
func retype(dt arrow.DataType, d arrow.ArrayData, children []arrow.ArrayData) arrow.ArrayData {
	if column.Storage(dt).ID() == arrow.DICTIONARY {
		return array.NewDataWithDictionary(dt, d.Len(), d.Buffers(), d.NullN(), d.Offset(), d.Dictionary().(*array.Data))
	}
	return array.NewData(dt, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

func (m *merger) structs(dt arrow.DataType, st *arrow.StructType, n int, parts []arrow.ArrayData) (arrow.ArrayData, error) {
	children := make([]arrow.ArrayData, 0, st.NumFields())
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for _, f := range st.Fields() {
		var of []arrow.ArrayData
		for _, p := range parts {
			pt, ok := column.Storage(p.DataType()).(*arrow.StructType)
			if !ok {
				return nil, fmt.Errorf("an array of %v where %v is wanted", p.DataType(), dt)
			}
			if at, ok := pt.FieldIdx(f.Name); ok {
				c := p.Children()[at]
				if p.Offset() != 0 || c.Len() != n {
					c = array.NewSliceData(c, int64(p.Offset()), int64(p.Offset()+n))
					defer c.Release()
				}
				of = append(of, c)
			}
		}
		c, err := m.merge(f.Type, n, of)
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	p := parts[0]
	if p.Offset() != 0 {
		return nil, fmt.Errorf("an array with an offset of %d to merge", p.Offset())
	}
	return array.NewData(dt, n, p.Buffers()[:1], children, p.NullN(), 0), nil
}

// lists merges lists; items is how many a fixed-size list has below it.
func (m *merger) lists(dt, elem arrow.DataType, items int, parts []arrow.ArrayData) (arrow.ArrayData, error) {
	p := parts[0]
	of := make([]arrow.ArrayData, 0, len(parts))
	for _, q := range parts {
		if len(q.Children()) != 1 || len(q.Buffers()) != len(p.Buffers()) || q.Offset() != 0 {
			return nil, fmt.Errorf("an array of %v where %v is wanted", q.DataType(), dt)
		}
		if len(p.Buffers()) == 2 && !bytes.Equal(p.Buffers()[1].Bytes(), q.Buffers()[1].Bytes()) {
			return nil, fmt.Errorf("%w: lists of which two columns tell different lengths", column.ErrCorrupt)
		}
		of = append(of, q.Children()[0])
	}
	if items < 0 {
		items = of[0].Len()
	}
	child, err := m.merge(elem, items, of)
	if err != nil {
		return nil, err
	}
	defer child.Release()
	if _, ok := column.Storage(dt).(*arrow.MapType); ok {
		if err := checkEntries(child); err != nil {
			return nil, err
		}
	}
	return retype(dt, p, []arrow.ArrayData{child}), nil
}

// checkEntries refuses entries of maps that Arrow has no place for.
func checkEntries(d arrow.ArrayData) error {
	if d.NullN() > 0 || len(d.Children()) != 2 || d.Children()[0].NullN() > 0 {
		return fmt.Errorf("%w: a map with entries or keys that are null", column.ErrCorrupt)
	}
	return nil
}

// sameValidity compares the null bitmaps of two arrays of one length.
func sameValidity(a, b arrow.ArrayData) error {
	differ := a.NullN() != b.NullN()
	if !differ && a.NullN() > 0 && a.Buffers()[0] != nil && b.Buffers()[0] != nil {
		differ = !sameBits(a, b)
	}
	if differ {
		return fmt.Errorf("%w: two columns tell different structs to be null", column.ErrCorrupt)
	}
	return nil
}

func sameBits(a, b arrow.ArrayData) bool {
	x, y, n := a.Buffers()[0].Bytes(), b.Buffers()[0].Bytes(), a.Len()
	if a.Offset() != 0 || b.Offset() != 0 {
		for i := range n {
			if bit(x, a.Offset()+i) != bit(y, b.Offset()+i) {
				return false
			}
		}
		return true
	}
	if !bytes.Equal(x[:n/8], y[:n/8]) {
		return false
	}
	for i := n &^ 7; i < n; i++ {
		if bit(x, i) != bit(y, i) {
			return false
		}
	}
	return true
}

func bit(b []byte, i int) byte { return b[i>>3] >> (i & 7) & 1 }

// sizeOf is how many bytes an array's buffers take.
func sizeOf(a arrow.Array) int64 { return sizeOfData(a.Data()) }

func sizeOfData(d arrow.ArrayData) int64 {
	n := int64(0)
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += sizeOfData(c)
	}
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		n += sizeOfData(dict)
	}
	return n
}

// nulls makes an array of nulls.
func (m *merger) nulls(dt arrow.DataType, n int) (arrow.ArrayData, error) {
	var z column.Zeros
	d, err := z.Nulls(dt, n, m.limit)
	if err != nil {
		return nil, err
	}
	if m.limit -= column.SizeOf(d); m.limit < 0 {
		return nil, overLimit("%d nulls of %v", n, dt)
	}
	return d, nil
}
