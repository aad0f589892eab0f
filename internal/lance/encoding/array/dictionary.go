package array

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// dictionary values are keys of items. Where the field is no dictionary the keys
// are counted from 1, and 0 is null.
type dictionary struct {
	page  *page
	keys  fixed
	items encoding
	typ   arrow.DataType // of the items
	count int
	// plain: the field is no dictionary.
	plain bool
}

func (c *compiler) dictionary(typ arrow.DataType, m *pb.ArrayEncoding_Dictionary, depth int) (encoding, error) {
	d := &dictionary{page: c.page, typ: typ, plain: true, count: int(m.GetNumItems())}
	var err error
	if d.keys, err = c.fixed(m.GetKeys(), depth); err != nil {
		return nil, err
	}
	switch bits := d.keys.bits(); bits {
	case 8, 16, 32, 64:
	default:
		return nil, corrupt("keys of %d bits", bits)
	}
	if t, ok := typ.(*arrow.DictionaryType); ok {
		d.typ, d.plain = t.ValueType, false
		// Releases up to 10 keep the keys of narrow dictionaries wider than they
		// are: a null may be one key more than the type can count.
		if bits, _ := fixedBits(t.IndexType); bits > d.keys.bits() {
			return nil, corrupt("%s is stored with keys of %d bits", typ, d.keys.bits())
		}
	} else if bits, ok := fixedBits(typ); !isVariable(typ) && (!ok || bits == 1) {
		return nil, unsupported("a dictionary for %s", typ)
	}
	d.items, err = c.values(d.typ, m.GetItems(), depth)
	return d, err
}

func (d *dictionary) need(from, to uint64, out []datafile.Span) []datafile.Span {
	return d.items.need(0, uint64(d.count), d.keys.need(from, to, out))
}

func (d *dictionary) load(r *read, from, to uint64) (part, error) {
	keys, err := d.keys.load(r, from, to)
	if err != nil {
		return nil, err
	}
	p := &dictionaryPart{of: d, keys: keys, n: int(to - from)}
	if v, ok := d.page.of.kept.get(d.page, d); ok {
		p.items = v.(*items)
		return p, nil
	}
	if err := r.borrow(leastBytes(d.typ, uint64(d.count))); err != nil {
		return nil, err
	}
	p.part, err = d.items.load(r.beside(), 0, uint64(d.count))
	return p, err
}

// items of a dictionary, decoded. They are never released.
type items struct {
	data arrow.ArrayData
	// text is set instead when the field is no dictionary and they are strings.
	text *textItems
	size uint64
}

type dictionaryPart struct {
	of    *dictionary
	keys  fixedPart
	n     int
	items *items
	// part of the items, when they are not decoded yet.
	part part
	// raw keys, and how many bytes of strings they stand for.
	raw  []byte
	size uint64
}

// decode makes the items out of what was fetched.
func (p *dictionaryPart) decode(r *read) error {
	if p.items != nil {
		return nil
	}
	d := p.of
	v, err := d.page.of.kept.once(d.page, d, r.limit, func() (any, int64, error) {
		b, err := newBuilder(r.beside(), d.typ, d.count)
		if err != nil {
			return nil, 0, err
		}
		more, err := p.part.prepare(b.r)
		if err != nil {
			return nil, 0, err
		}
		if b.text != nil {
			b.text.expect = more
		}
		if err := p.part.appendTo(b); err != nil {
			return nil, 0, err
		}
		data, err := b.finish()
		if err != nil {
			return nil, 0, err
		}
		out := &items{data: data, size: plus(leastBytes(d.typ, uint64(d.count)), more)}
		if d.plain && b.text != nil {
			if out, err = newTextItems(r, data); err != nil {
				return nil, 0, err
			}
		}
		return out, int64(min(out.size, 1<<62)), nil
	})
	if err != nil {
		return err
	}
	p.items = v.(*items)
	return nil
}

// key i of raw keys.
func key(raw []byte, bytes, i int) uint64 {
	switch bytes {
	case 1:
		return uint64(raw[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(raw[i*2:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(raw[i*4:]))
	}
	return binary.LittleEndian.Uint64(raw[i*8:])
}

func (p *dictionaryPart) prepare(r *read) (uint64, error) {
	if err := p.decode(r); err != nil {
		return 0, err
	}
	w := int(p.of.keys.bits() / 8)
	raw, _, _, ok := p.keys.raw()
	if !ok {
		if err := r.borrow(times(uint64(p.n), uint64(w))); err != nil {
			return 0, err
		}
		raw = make([]byte, p.n*w)
		if err := p.keys.unpack(raw); err != nil {
			return 0, err
		}
	}
	if len(raw) < p.n*w {
		return 0, corrupt("%d bytes for %d keys of %d", len(raw), p.n, w)
	}
	p.raw = raw
	if p.items.text != nil {
		var err error
		if p.size, err = p.items.text.size(raw, w, p.n); err != nil {
			return 0, err
		}
		return p.size + short, r.take(p.size)
	}
	most := uint64(p.of.count)
	if p.of.plain {
		most++
	}
	for i := range p.n {
		if k := key(raw, w, i); k >= most {
			return 0, corrupt("key %d, where the dictionary has %d items", k, p.of.count)
		}
	}
	return 0, nil
}

func (p *dictionaryPart) appendTo(b *builder) error {
	switch {
	case !p.of.plain:
		return p.appendKeys(b)
	case b.text != nil:
		return p.appendText(b)
	}
	return p.appendValues(b)
}

// appendValues appends the items that the keys stand for, values of one width.
func (p *dictionaryPart) appendValues(b *builder) error {
	w, size := int(p.of.keys.bits()/8), b.bits/8
	d := p.items.data
	var valid []byte
	if d.NullN() > 0 {
		valid = d.Buffers()[0].Bytes()
	}
	b.grow()
	from, to := d.Buffers()[1].Bytes(), b.data[b.n*size:]
	for i := range p.n {
		k := int(key(p.raw, w, i))
		if k > 0 && (valid == nil || bitutil.BitIsSet(valid, k-1)) {
			copy(to[i*size:(i+1)*size], from[(k-1)*size:])
			continue
		}
		if err := b.valid.own(); err != nil {
			return err
		}
		b.valid.null(b.n + i)
	}
	b.n += p.n
	return nil
}
