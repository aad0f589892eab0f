package array

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// appendKeys appends rows of a field that is a dictionary.
func (p *dictionaryPart) appendKeys(b *builder) error {
	from := b.n
	keys := p.keys
	renumber, err := b.dict.adopt(p.items)
	if err != nil {
		return err
	}
	if int(p.of.keys.bits()) != b.bits {
		return p.appendNarrowed(b, renumber)
	}
	if err := b.fixed(keys, p.n); err != nil {
		return err
	}
	w := b.bits / 8
	if d := p.items.data; d.NullN() > 0 { // an item that is null makes its keys null
		valid := d.Buffers()[0].Bytes()
		for i := range p.n {
			if bitutil.BitIsSet(valid, int(key(p.raw, w, i))) {
				continue
			}
			if err := b.valid.own(); err != nil {
				return err
			}
			b.valid.null(from + i)
		}
	}
	if renumber == nil {
		return nil
	}
	return renumberKeys(b.data[from*w:b.n*w], w, renumber, column.Storage(b.typ).(*arrow.DictionaryType).IndexType)
}

// appendNarrowed appends keys that are stored wider than their type.
func (p *dictionaryPart) appendNarrowed(b *builder, renumber []uint64) error {
	stored, w := int(p.of.keys.bits()/8), b.bits/8
	typ := column.Storage(b.typ).(*arrow.DictionaryType).IndexType
	most := mostKey(typ, w)
	var valid []byte
	if d := p.items.data; d.NullN() > 0 {
		valid = d.Buffers()[0].Bytes()
	}
	b.grow()
	to := b.data[b.n*w:]
	for i := range p.n {
		k := key(p.raw, stored, i)
		if valid != nil && !bitutil.BitIsSet(valid, int(k)) {
			if err := b.valid.own(); err != nil {
				return err
			}
			b.valid.null(b.n + i)
			continue
		}
		if renumber != nil {
			k = renumber[k]
		}
		if k > most {
			return tooManyItems(typ)
		}
		putKey(to, w, i, k)
	}
	b.n += p.n
	return nil
}

// mostKey is the largest key of a type of w bytes.
func mostKey(typ arrow.DataType, w int) uint64 {
	most := uint64(math.MaxUint64) >> (64 - 8*w)
	switch typ.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		most >>= 1
	}
	return most
}

func tooManyItems(typ arrow.DataType) error {
	return fmt.Errorf("%w: dictionaries of several pages have more items than %s counts", column.ErrLimit, typ)
}

// putKey writes key i of w bytes.
func putKey(keys []byte, w, i int, k uint64) {
	for b := range w {
		keys[i*w+b] = byte(k >> (8 * b))
	}
}
