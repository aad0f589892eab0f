package array

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// offsets of strings.
type offsets struct {
	off32 []int32
	off64 []int64
}

func offsetsOf(d arrow.ArrayData) offsets {
	b := d.Buffers()[1].Bytes()
	if w, _ := offsetBytes(column.Storage(d.DataType())); w == 8 {
		return offsets{off64: arrow.Int64Traits.CastFromBytes(b)}
	}
	return offsets{off32: arrow.Int32Traits.CastFromBytes(b)}
}

func (o offsets) at(i int) (from, to int) {
	if o.off64 != nil {
		return int(o.off64[i]), int(o.off64[i+1])
	}
	return int(o.off32[i]), int(o.off32[i+1])
}

// short is the longest string that is copied as one piece of this size.
const short = 16

// textItems are the strings that keys stand for, that of key 0 being null.
type textItems struct {
	at    []textItem
	bytes []byte // with short more at the end
}

type textItem struct {
	from, n int
	null    bool
}

func newTextItems(r *read, d arrow.ArrayData) (*items, error) {
	n := d.Len()
	all := d.Buffers()[2].Len()
	size := plus(times(uint64(n+1), uint64(unsafe.Sizeof(textItem{}))), uint64(all)+short)
	if err := r.borrow(size); err != nil {
		return nil, err
	}
	t := &textItems{at: make([]textItem, n+1), bytes: make([]byte, all+short)}
	copy(t.bytes, d.Buffers()[2].Bytes())
	t.at[0].null = true
	o := offsetsOf(d)
	for i := range n {
		if d.NullN() > 0 && bitutil.BitIsNotSet(d.Buffers()[0].Bytes(), i) {
			t.at[i+1].null = true
			continue
		}
		from, to := o.at(i)
		t.at[i+1] = textItem{from: from, n: to - from}
	}
	return &items{text: t, size: size}, nil
}

// size is how many bytes of strings n keys stand for.
func (t *textItems) size(raw []byte, w, n int) (uint64, error) {
	var size uint64
	for i := range n {
		k := key(raw, w, i)
		if k >= uint64(len(t.at)) {
			return 0, corrupt("key %d, where the dictionary has %d items", k, len(t.at)-1)
		}
		size += uint64(t.at[k].n)
	}
	return size, nil
}

// appendText appends the strings that the keys stand for.
func (p *dictionaryPart) appendText(b *builder) error {
	t := b.text
	if err := t.fits(p.size); err != nil {
		return err
	}
	t.reserve()
	w, begin := int(p.of.keys.bits()/8), len(t.bytes)
	if need := uint64(begin) + p.size + short; need > uint64(cap(t.bytes)) {
		return corrupt("%d bytes of strings where %d were expected", need, cap(t.bytes))
	}
	dst := t.bytes[begin:cap(t.bytes)]
	var n int
	var err error
	if t.wide {
		n, err = gather(p.items.text, p.raw, w, dst, t.off64[t.n:t.n+p.n+1], &b.valid, b.n)
	} else {
		n, err = gather(p.items.text, p.raw, w, dst, t.off32[t.n:t.n+p.n+1], &b.valid, b.n)
	}
	t.bytes = t.bytes[:begin+n]
	t.n += p.n
	b.n += p.n
	return err
}

// gather writes the strings of keys to dst and their ends behind the first of the
// offsets, and returns how many bytes they have. Row at+i is that of key i.
func gather[T int32 | int64](t *textItems, raw []byte, w int, dst []byte, offsets []T, valid *bitmap, at int) (int, error) {
	base, pos := offsets[0], 0
	offsets = offsets[1:]
	items, bytes := t.at, t.bytes
	for i := range offsets {
		var k uint64
		if w == 1 {
			k = uint64(raw[i])
		} else {
			k = key(raw, w, i)
		}
		x := &items[k]
		if x.n <= short {
			*(*[short]byte)(dst[pos:]) = *(*[short]byte)(bytes[x.from:])
		} else {
			copy(dst[pos:], bytes[x.from:x.from+x.n])
		}
		pos += x.n
		offsets[i] = base + T(pos)
		if x.null {
			if err := valid.own(); err != nil {
				return 0, err
			}
			valid.null(at + i)
		}
	}
	return pos, nil
}
