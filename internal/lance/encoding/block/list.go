package block

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// list is fixed-size lists in a chunk: with validity, a bitmap over the items stands before the buffers
// of the items, so that those of the outer lists come first.
type list struct {
	dim   int
	valid bool
	items decoder
}

func newList(e *pb.CompressiveEncoding_FixedSizeList, depth int) (decoder, error) {
	switch e.GetValues().GetEncoding().(type) {
	case *pb.CompressiveEncoding_Flat_, *pb.CompressiveEncoding_FixedSizeList_:
	default:
		return nil, unsupported("fixed-size list of %s", Describe(e.GetValues()))
	}
	items, err := chunkDecoder(e.GetValues(), depth+1)
	if err != nil {
		return nil, err
	}
	l := list{valid: e.GetHasValidity(), items: items}
	l.dim, err = dimension(e, items.shape())
	return l, err
}

// dimension checks the number of items.
func dimension(e *pb.CompressiveEncoding_FixedSizeList, items *Values) (int, error) {
	n := e.GetItemsPerValue()
	if n == 0 || n > maxValues || int64(n)*max(items.width(), 1) > maxBits {
		return 0, unsupported("fixed-size list of %d items", n)
	}
	return int(n), nil
}

func (l list) buffers() int {
	if l.valid {
		return l.items.buffers() + 1
	}
	return l.items.buffers()
}

func (l list) shape() *Values { return listShape(l.dim, l.valid, l.items.shape()) }

func listShape(dim int, valid bool, items *Values) *Values {
	v := &Values{Kind: List, Dim: dim, Items: items}
	if valid {
		v.Valid = []byte{}
	}
	return v
}

func (l list) append(dst *Values, buffers [][]byte, n, from, to int) error {
	n, first, count := n*l.dim, from*l.dim, (to-from)*l.dim
	if n > maxValues {
		return corrupt("%d items", n)
	}
	if l.valid {
		bitmap := flat{1}
		if err := bitmap.check(buffers[0], n); err != nil {
			return err
		}
		dst.appendValid(buffers[0], first, to-from)
		buffers = buffers[1:]
	} else {
		dst.appendValid(nil, 0, to-from)
	}
	if err := l.items.append(dst.Items, buffers, n, first, first+count); err != nil {
		return err
	}
	dst.N += to - from
	return nil
}

// appendValid adds the validity of the items of n lists: of a bitmap from bit off, or all valid without one.
func (v *Values) appendValid(bitmap []byte, off, n int) {
	have, n := v.N*v.Dim, n*v.Dim
	switch {
	case bitmap != nil:
		if v.Valid == nil {
			v.Valid = appendBit(v.Valid, 0, have, true)
		}
		v.Valid = appendBits(v.Valid, have, bitmap, off, n)
	case v.Valid != nil:
		v.Valid = appendBit(v.Valid, have, n, true)
	}
}
