package array

import (
	"fmt"
	"hash/maphash"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// keyed numbers the items of a page of a field that is a dictionary. Of what is null, there is one item.
type keyed struct {
	typ *arrow.DictionaryType
	// most is the largest number that keys of w bytes count.
	w    int
	most uint64
	// pieces are the items, n of them.
	pieces []piece
	n      uint64
	null   int64 // its number, -1 while there is none

	// asIs: the dictionary's own numbers are kept. Otherwise only what is used gets one, when it is first used.
	asIs  bool
	index map[string]uint64
	// renumber has the new numbers, from 1 on, of the items of a dictionary.
	of       arrow.ArrayData
	renumber []uint64
}

// dictionary encodes values of a field that is a dictionary. Different dictionaries become one.
func (w *pageWriter) dictionary(t *arrow.DictionaryType, in []piece, seen *distinct) (*pb.ArrayEncoding, error) {
	typ := column.Storage(t.IndexType)
	bits, _ := fixedBits(typ)
	k := &keyed{typ: t, w: int(bits / 8), most: mostKey(typ, int(bits/8)), null: -1}
	k.start(in)
	at := len(w.keys)
	for _, p := range in {
		from := len(w.keys)
		w.keys = grown(w.keys, p.n*k.w)
		if err := k.keys(w.keys[from:], p); err != nil {
			return nil, err
		}
	}
	if bits <= 16 && !seen.add(k) {
		return nil, k.tooMany()
	}
	keys := withoutNulls(w.flat(bits, w.keys[at:]))
	var items *pb.ArrayEncoding
	var err error
	if isVariable(column.Storage(t.ValueType)) {
		items, err = w.binary(k.pieces, compression{})
	} else {
		items = w.values(t.ValueType, k.pieces)
	}
	return dictionaryOf(keys, items, int(k.n)), err
}

// tooMany refuses what keys can't count. Wider ones would be misread by releases up to 10; later ones refuse them.
func (k *keyed) tooMany() error {
	return unsupported("more than %d different values of a dictionary with keys of type %s, null being one", k.most+1, k.typ.IndexType)
}

// start decides whether the dictionary is kept as it is: where keys are many, there is one, and it has no more items than there are rows.
func (k *keyed) start(in []piece) {
	d := in[0].data.Dictionary()
	rows, nulls := countNulls(in)
	k.asIs = k.w > 2 && d.Len() <= rows && nulls < rows
	for _, p := range in[1:] {
		k.asIs = k.asIs && (p.data.Dictionary() == d || same(p.data.Dictionary(), d))
	}
	if !k.asIs {
		k.index = make(map[string]uint64)
		return
	}
	all := piece{d, d.Offset(), d.Len()}
	k.pieces, k.n = append(k.pieces, all), uint64(all.n)
	valid := all.valid()
	for i := 0; valid != nil && i < all.n && k.null < 0; i++ {
		if !bitutil.BitIsSet(valid, all.from+i) {
			k.null = int64(i)
		}
	}
}

// keys writes the keys of a piece.
func (k *keyed) keys(dst []byte, p piece) error {
	raw, valid := p.fixed(k.w), p.valid()
	d := p.data.Dictionary()
	items := uint64(d.Len())
	for i := range p.n {
		if valid != nil && !bitutil.BitIsSet(valid, p.from+i) {
			if err := k.nulled(); err != nil {
				return err
			}
			putKey(dst, k.w, i, uint64(k.null))
			continue
		}
		n := key(raw, k.w, i)
		if n >= items {
			return fmt.Errorf("key %d of a dictionary of %d items", n, items)
		}
		if !k.asIs {
			var err error
			if n, err = k.number(d, n); err != nil {
				return err
			}
		}
		putKey(dst, k.w, i, n)
	}
	return nil
}

// nulled makes sure that null has a number.
func (k *keyed) nulled() error {
	if k.null >= 0 {
		return nil
	}
	if k.n > k.most {
		return k.tooMany()
	}
	var z column.Zeros
	d, err := z.Nulls(k.typ.ValueType, 1, 1<<30)
	if err != nil {
		return err
	}
	k.null = int64(k.n)
	k.add(piece{d, 0, 1})
	return nil
}

func (k *keyed) add(p piece) {
	k.n++
	if last := len(k.pieces) - 1; last >= 0 && k.pieces[last].data == p.data && k.pieces[last].from+k.pieces[last].n == p.from {
		k.pieces[last].n += p.n
		return
	}
	k.pieces = append(k.pieces, p)
}

// number is the new number of an item of a dictionary.
func (k *keyed) number(d arrow.ArrayData, item uint64) (uint64, error) {
	if d != k.of {
		k.of, k.renumber = d, make([]uint64, d.Len())
	}
	if n := k.renumber[item]; n > 0 {
		return n - 1, nil
	}
	p := piece{d, d.Offset() + int(item), 1}
	if p.nulls() > 0 {
		if err := k.nulled(); err != nil {
			return 0, err
		}
		k.renumber[item] = uint64(k.null) + 1
		return uint64(k.null), nil
	}
	v := p.value()
	n, ok := k.index[string(v)]
	if !ok {
		if k.n > k.most {
			return 0, k.tooMany()
		}
		n = k.n
		k.index[string(v)] = n
		k.add(p)
	}
	k.renumber[item] = n + 1
	return n, nil
}

// value is the bytes of one value: of a boolean, a byte.
func (p piece) value() []byte {
	typ := column.Storage(p.data.DataType())
	if isVariable(typ) {
		return p.text()
	}
	bits, _ := fixedBits(typ)
	if bits == 1 {
		if bitutil.BitIsSet(p.data.Buffers()[1].Bytes(), p.from) {
			return []byte{1}
		}
		return []byte{0}
	}
	return p.fixed(int(bits / 8))
}

// distinct counts the different values of all pages of a column: a batch of Lance has one dictionary, and
// must not need more keys than there are.
type distinct struct {
	hashes map[uint64]struct{}
	null   uint64 // 1 when it is among them
}

// add counts the items of a page; false when there are too many.
func (s *distinct) add(k *keyed) bool {
	if s.hashes == nil {
		s.hashes = make(map[uint64]struct{})
	}
	if k.null >= 0 {
		s.null = 1
	}
	for v := range k.index {
		s.hashes[maphash.String(seedOf(), v)] = struct{}{}
	}
	return uint64(len(s.hashes))+s.null <= k.most+1
}
