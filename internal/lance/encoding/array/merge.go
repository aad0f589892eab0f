package array

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// dictionaries makes one dictionary of those of the pages.
type dictionaries struct {
	r   *read
	typ arrow.DataType
	// first is the dictionary of the first page, last that of the page before, with
	// the new numbers of its items.
	first, last *items
	renumber    []uint64
	// merged items, once there are several dictionaries.
	index map[string]uint64
	// null is the number of an item that is null, -1 while there is none.
	null  int64
	order []string
	// nulls are all of them.
	nulls []int
}

// adopt adds a page's dictionary and returns the new numbers of its items; nil
// when they keep their numbers.
func (d *dictionaries) adopt(p *items) ([]uint64, error) {
	if d.first == nil {
		if err := d.r.take(p.size); err != nil {
			return nil, err
		}
		d.first, d.last = p, p
		return nil, nil
	}
	if p == d.last {
		return d.renumber, nil
	}
	if d.index == nil && same(p.data, d.first.data) {
		return nil, nil
	}
	if d.index == nil {
		d.index, d.null = make(map[string]uint64), -1
		if _, err := d.merge(d.first); err != nil {
			return nil, err
		}
	}
	var err error
	d.last = p
	d.renumber, err = d.merge(p)
	return d.renumber, err
}

func same(a, b arrow.ArrayData) bool {
	if a.Len() != b.Len() {
		return false
	}
	x, y := array.MakeFromData(a), array.MakeFromData(b)
	defer x.Release()
	defer y.Release()
	return array.Equal(x, y)
}

// merge numbers the items of a dictionary anew; equal ones get one number. The
// first dictionary keeps its numbers: keys to it stand in the array already.
func (d *dictionaries) merge(p *items) ([]uint64, error) {
	sto := column.Storage(d.typ)
	bits, ok := fixedBits(sto)
	if !isVariable(sto) && (!ok || bits%8 != 0) {
		return nil, fmt.Errorf("%w: pages with different dictionaries of %s", column.ErrLimit, d.typ)
	}
	data := p.data
	if err := d.r.borrow(plus(p.size, times(uint64(data.Len()), 64))); err != nil {
		return nil, err
	}
	if p != d.first {
		if err := d.r.take(p.size); err != nil {
			return nil, err
		}
	}
	var valid []byte
	if data.NullN() > 0 {
		valid = data.Buffers()[0].Bytes()
	}
	value := func(i int) []byte {
		w := int(bits / 8)
		return data.Buffers()[1].Bytes()[i*w : (i+1)*w]
	}
	if isVariable(sto) {
		o, b := offsetsOf(data), data.Buffers()[2].Bytes()
		value = func(i int) []byte {
			x, y := o.at(i)
			return b[x:y]
		}
	}
	out := make([]uint64, data.Len())
	for i := range out {
		if valid != nil && bitutil.BitIsNotSet(valid, i) {
			if d.null < 0 || p == d.first {
				d.null = int64(len(d.order))
				d.order = append(d.order, "")
				d.nulls = append(d.nulls, int(d.null))
			}
			out[i] = uint64(d.null)
			continue
		}
		v := value(i)
		n, ok := d.index[string(v)]
		if !ok || p == d.first {
			n = uint64(len(d.order))
			s := string(v)
			d.order = append(d.order, s)
			d.index[s] = n
		}
		out[i] = n
	}
	return out, nil
}

// renumberKeys gives keys the new numbers, which must fit.
func renumberKeys(keys []byte, w int, numbers []uint64, typ arrow.DataType) error {
	most := mostKey(typ, w)
	for i := range len(keys) / w {
		n := numbers[key(keys, w, i)]
		if n > most {
			return tooManyItems(typ)
		}
		putKey(keys, w, i, n)
	}
	return nil
}

// finish returns the dictionary of all.
func (d *dictionaries) finish() (*array.Data, error) {
	if d.index == nil {
		if d.first != nil {
			return d.first.data.(*array.Data), nil
		}
		b, err := newBuilder(d.r, d.typ, 0)
		if err != nil {
			return nil, err
		}
		data, err := b.finish()
		if err != nil {
			return nil, err
		}
		return data.(*array.Data), nil
	}
	b, err := newBuilder(d.r, d.typ, len(d.order))
	if err != nil {
		return nil, err
	}
	for i, s := range d.order {
		if b.text != nil {
			if err := b.text.fits(uint64(len(s))); err != nil {
				return nil, err
			}
			b.text.reserve()
			b.text.bytes = append(b.text.bytes, s...)
			b.text.end()
		} else {
			b.grow()
			copy(b.data[i*b.bits/8:], s)
		}
	}
	b.n = len(d.order)
	for _, i := range d.nulls {
		if err := b.valid.nullAll(i, 1); err != nil {
			return nil, err
		}
	}
	data, err := b.finish()
	if err != nil {
		return nil, err
	}
	return data.(*array.Data), nil
}
