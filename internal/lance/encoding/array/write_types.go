package array

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// storable tells whether a page can hold values of a leaf. What Lance itself can't write, or
// can't read where it was written, is refused.
func storable(f column.Field) error {
	typ := column.Storage(f.Type)
	switch t := typ.(type) {
	case *arrow.StructType:
		if t.NumFields() == 0 {
			return unsupported("a packed struct without fields")
		}
		for _, x := range t.Fields() {
			if bits, ok := flatBits(x.Type); !ok || bits%8 != 0 {
				return unsupported("%s in a packed struct (%s) of version 2.0", x.Type, x.Name)
			}
		}
		return nil
	case *arrow.DictionaryType:
		if v := column.Storage(t.ValueType); isVariable(v) {
			return nil
		} else if _, ok := fixedBits(v); ok {
			return nil
		}
	case *arrow.NullType:
		return nil
	case *arrow.FixedSizeListType:
		if _, ok := flatBits(t); ok {
			return nil
		}
	default:
		if _, ok := fixedBits(typ); ok && storedByLance(typ) || isVariable(typ) {
			return nil
		}
	}
	return unsupported("type %s can't be stored in a file of version 2.0", f.Type)
}

// flatBits is the width of values of a fixed width, lists of a fixed size among them.
func flatBits(t arrow.DataType) (uint64, bool) {
	t = column.Storage(t)
	if l, ok := t.(*arrow.FixedSizeListType); ok {
		bits, ok := flatBits(l.Elem())
		return times(bits, uint64(max(l.Len(), 0))), ok && l.Len() > 0
	}
	bits, ok := fixedBits(t)
	return bits, ok && storedByLance(t)
}

// storedByLance tells whether a type of a fixed width is one that Lance has a name for.
func storedByLance(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return false
	}
	return true
}

// fits makes sure that rows are of a field's type, but for names and for what may be null, and that their buffers are there.
func fits(f column.Field, path string, p piece) error {
	if at, got := unlike(f, f.Name, p.data.DataType()); got != nil {
		return fmt.Errorf("%s: an array of %s", at, got)
	}
	if err := whole(p.data, p.from, p.n); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// unlike finds the field to which a type does not belong.
func unlike(f column.Field, path string, got arrow.DataType) (string, arrow.DataType) {
	sto := column.Storage(got)
	if f.Blob && isVariable(sto) {
		return "", nil
	}
	kids := f.Children
	if x, ok := sto.(arrow.NestedType); ok && len(kids) > 0 && column.Storage(f.Type).ID() == sto.ID() && len(x.Fields()) == len(kids) {
		for i, k := range kids {
			if at, t := unlike(k, path+"."+k.Name, x.Fields()[i].Type); t != nil {
				return at, t
			}
		}
		return "", nil
	}
	if !alike(f.Type, got) {
		return fmt.Sprintf("%s: a column of %s", path, f.Type), got
	}
	return "", nil
}

// alike compares types by what is in their buffers.
func alike(a, b arrow.DataType) bool {
	a, b = column.Storage(a), column.Storage(b)
	if a.ID() != b.ID() {
		return false
	}
	switch x := a.(type) {
	case *arrow.DictionaryType:
		y := b.(*arrow.DictionaryType)
		return alike(x.IndexType, y.IndexType) && alike(x.ValueType, y.ValueType)
	case *arrow.FixedSizeListType:
		if x.Len() != b.(*arrow.FixedSizeListType).Len() {
			return false
		}
	case *arrow.FixedSizeBinaryType:
		return x.ByteWidth == b.(*arrow.FixedSizeBinaryType).ByteWidth
	}
	x, ok := a.(arrow.NestedType)
	if !ok {
		return true
	}
	p, q := x.Fields(), b.(arrow.NestedType).Fields()
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if !alike(p[i].Type, q[i].Type) {
			return false
		}
	}
	return true
}

// whole makes sure that the buffers hold rows [from, from+n), counted from their beginning, so
// that nothing behind this reads past them.
func whole(d arrow.ArrayData, from, n int) error {
	if n == 0 {
		return nil
	}
	typ := column.Storage(d.DataType())
	size := func(i int, need uint64) error {
		var have uint64
		if b := d.Buffers(); i < len(b) && b[i] != nil {
			have = uint64(b[i].Len())
		}
		if have < need {
			return fmt.Errorf("%s: %d rows from %d on need %d bytes of buffer %d, which has %d", typ, n, from, need, i, have)
		}
		return nil
	}
	if b := d.Buffers(); len(b) > 0 && b[0] != nil {
		if err := size(0, bitBytes(uint64(from+n), 1)); err != nil {
			return err
		}
	}
	if bits, ok := fixedBits(typ); ok {
		return size(1, bitBytes(uint64(from+n), bits))
	}
	kid := func(i, from, n int) error {
		k := d.Children()[i]
		if from < 0 || n < 0 || from+n > k.Len() {
			return fmt.Errorf("%s: rows %d to %d of %d", typ, from, from+n, k.Len())
		}
		return whole(k, k.Offset()+from, n)
	}
	if w, ok := offsetBytes(typ); ok {
		if err := size(1, uint64(from+n+1)*w); err != nil {
			return err
		}
		o := offsetsOf(d)
		a, _ := o.at(from)
		_, b := o.at(from + n - 1)
		if a < 0 || !o.rise(from, n) {
			return fmt.Errorf("%s: offsets below 0, or that fall", typ)
		}
		if isVariable(typ) {
			return size(2, uint64(b))
		}
		return kid(0, a, b-a)
	}
	switch t := typ.(type) {
	case *arrow.DictionaryType:
		bits, _ := fixedBits(t.IndexType)
		if d.Dictionary() == nil {
			return fmt.Errorf("%s without a dictionary", typ)
		}
		if err := whole(d.Dictionary(), d.Dictionary().Offset(), d.Dictionary().Len()); err != nil {
			return err
		}
		return size(1, bitBytes(uint64(from+n), bits))
	case *arrow.FixedSizeListType:
		return kid(0, from*int(t.Len()), n*int(t.Len()))
	case *arrow.StructType:
		for i := range t.NumFields() {
			if err := kid(i, from, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// rise tells whether the offsets of n values do not fall.
func (o offsets) rise(from, n int) bool {
	if o.off64 != nil {
		return slices.IsSorted(o.off64[from : from+n+1])
	}
	return slices.IsSorted(o.off32[from : from+n+1])
}
