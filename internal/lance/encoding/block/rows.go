package block

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// rows is values of one width in a full-zip page: plain, or fixed-size lists inside each other of plain values.
// With validity, each value starts with the bitmaps of its items, those of the outer lists
// first, each from a byte of its own.
//
// Items that are all null take no bytes, and nothing tells how many lists are around them: they are what
// they are appended to. When that is lists again, then these are not null, but their items are.
type rows struct {
	enc    *pb.CompressiveEncoding
	like   *Values
	layers []layer // from the outermost
	bits   int     // of an item; 0 when all are null
	items  int     // of a value, at the innermost
	bytes  int     // of a value as it is stored
	valid  bool
}

type layer struct {
	items int // of a value, at this layer
	valid bool
}

func newRows(enc *pb.CompressiveEncoding) (*rows, error) {
	r := &rows{enc: enc, items: 1}
	var lists []*pb.CompressiveEncoding_FixedSizeList
	inner := enc
	for inner.GetFixedSizeList() != nil {
		e := inner.GetFixedSizeList()
		lists = append(lists, e)
		n := e.GetItemsPerValue()
		if n == 0 || n > maxValues || int64(n)*int64(r.items) > maxBits || len(lists) > maxDepth {
			return nil, unsupported("%d lists, the last of %d items", len(lists), n)
		}
		r.items *= int(n)
		r.layers = append(r.layers, layer{r.items, e.GetHasValidity()})
		if e.GetHasValidity() {
			r.valid = true
			r.bytes += (r.items + 7) / 8
		}
		inner = e.GetValues()
	}
	switch e := inner.GetEncoding().(type) {
	case *pb.CompressiveEncoding_Flat_:
		f, err := newFlat(e.Flat)
		if err != nil {
			return nil, err
		}
		r.bits = f.bits
	case *pb.CompressiveEncoding_Constant_:
		// All items are null: nothing but their bitmaps is there. Releases before 12 left the innermost
		// lists out, and so everything when there is only one, without which no writer has this.
		if e.Constant.Value != nil {
			return nil, unsupported("%s in a full-zip page", Describe(inner))
		}
	default:
		return nil, unsupported("%s in a full-zip page", Describe(inner))
	}
	total := int64(r.items) * int64(r.bits)
	if total%8 != 0 || total > maxBits || r.valid && r.bits == 1 {
		return nil, unsupported("%d values of %d bits side by side", r.items, r.bits)
	}
	r.bytes += int(total / 8)
	r.like = &Values{Kind: Fixed, Bits: r.bits}
	for i := len(lists) - 1; i >= 0; i-- {
		r.like = listShape(int(lists[i].GetItemsPerValue()), lists[i].GetHasValidity(), r.like)
	}
	return r, nil
}

func (r *rows) Bits() int               { return 8 * r.bytes }
func (r *rows) New(limit int64) *Values { return r.like.empty(limit) }

func (r *rows) AppendVariable(*Values, []byte) error {
	return named(r.enc, corrupt("values of fixed width in a page of varying length"))
}

func (r *rows) AppendFixed(dst *Values, data []byte, n int) error {
	if err := r.try(dst, data, n); err != nil {
		return named(r.enc, err)
	}
	return nil
}

// minShared is the size from which on a result shares the bytes it was given. Below, holding on to
// all that was fetched with them would cost more than a copy.
const minShared = 64 << 10

func (r *rows) try(dst *Values, data []byte, n int) error {
	if n < 0 || n > maxValues || len(data) != n*r.bytes {
		return corrupt("%d bytes for %d values of %d bytes", len(data), n, r.bytes)
	}
	bools := dst.bools(r.like)
	if !bools {
		if err := dst.take(r.like); err != nil {
			return err
		}
	}
	if err := dst.roomFor(n); err != nil {
		return err
	}
	if r.bits == 0 && !r.known(dst) {
		return unsupported("nulls without validity")
	}
	if r.valid || r.bits == 0 {
		r.unzip(dst, data, n)
		return nil
	}
	leaf := dst
	for n := n; leaf.Kind == List; leaf = leaf.Items {
		leaf.appendValid(nil, 0, n)
		leaf.N += n
		n *= leaf.Dim
	}
	switch {
	case bools:
		if err := leaf.appendBools(data); err != nil {
			return err
		}
	case r.bits == 1:
		leaf.Data = appendBits(leaf.Data, leaf.N, data, 0, n*r.items)
	case leaf.N == 0 && len(data) >= minShared && aligned(data, r.bits):
		leaf.Data = data[:len(data):len(data)]
	default:
		leaf.Data = append(leaf.Data, data...)
	}
	leaf.N += n * r.items
	return nil
}

// known tells whether what is null comes out as null: there is validity above it, or it is lists whose
// items are.
func (r *rows) known(dst *Values) bool {
	valid := false
	for _, l := range r.layers {
		dst, valid = dst.Items, l.valid
	}
	return valid || dst.Kind == List || dst.null()
}

// appendBools adds booleans of a byte each to a bitmap.
func (v *Values) appendBools(data []byte) error {
	at := v.N
	v.Data = appendBit(v.Data, at, len(data), false)
	for i, x := range data {
		if x > 1 {
			return corrupt("boolean %d is %d", i, x)
		}
		v.Data[(at+i)/8] |= x << ((at + i) % 8)
	}
	return nil
}

// unzip takes bitmaps and values apart.
func (r *rows) unzip(dst *Values, data []byte, n int) {
	leaf := dst
	for range r.layers {
		leaf = leaf.Items
	}
	size := r.items * r.bits / 8
	longer, out := leaf.Data, []byte(nil)
	if r.bits > 0 {
		longer, out = extend(leaf.Data, n*size)
	}
	for range n {
		list := dst
		for _, l := range r.layers {
			if l.valid {
				list.appendValid(data, 0, l.items/list.Dim)
				data = data[(l.items+7)/8:]
			} else {
				list.appendValid(nil, 0, l.items/list.Dim)
			}
			list.N += l.items / list.Dim
			list = list.Items
		}
		copy(out[:size], data)
		out, data = out[size:], data[size:]
	}
	if r.bits == 0 {
		leaf.appendMissing(n * r.items)
		return
	}
	leaf.Data = longer
	leaf.N += n * r.items
}

// appendMissing appends n values of which is known that they, or all items in them, are null.
func (v *Values) appendMissing(n int) {
	if v.Kind != List {
		v.appendNulls(n)
		return
	}
	if v.Valid == nil {
		v.Valid = appendBit(v.Valid, 0, v.N*v.Dim, true)
	}
	v.Valid = appendBit(v.Valid, v.N*v.Dim, n*v.Dim, false)
	v.Items.appendMissing(n * v.Dim)
	v.N += n
}
