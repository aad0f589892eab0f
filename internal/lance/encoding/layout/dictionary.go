package layout

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// dictionary is the words of a leaf of Arrow's dictionary type. Each page has its own
// dictionary; they become one when a read spans pages with different ones.
type dictionary struct {
	typ   *arrow.DictionaryType
	words *block.Values
	// own tells that words may be appended to; otherwise it is a page's.
	own bool
	// at is where each word is, once there were different dictionaries.
	at map[string]uint64
}

// absent stands for an index that is not one of the page's dictionary: legal where the
// value is null.
const absent = ^uint64(0)

// add appends indices into a page's dictionary to dst. words is nil when values are no
// indices but values.
func (d *dictionary) add(dst, words, values *block.Values) error {
	var remap []uint64
	n := values.N
	if words == nil {
		words = values
		values = nil
	}
	if d.words == nil && values != nil {
		d.words = words
	} else if d.words != words && (values == nil || !sameWords(d.words, words)) {
		var err error
		if remap, err = d.merge(words, dst.Limit); err != nil {
			return err
		}
	}
	if values != nil && (values.Kind != block.Fixed || values.Bits < 8) {
		return corrupt("dictionary indices of %d bits", values.Bits)
	}
	width := dst.Bits / 8
	if int64(dst.N+n)*int64(width) > dst.Limit {
		return overLimit("%d more indices", n)
	}
	for i := range n {
		ix := uint64(i)
		if values != nil {
			ix = readUint(values.Data, i, values.Bits/8)
			if ix >= uint64(words.N) {
				ix = absent
			}
		}
		if remap != nil && ix != absent {
			ix = remap[ix]
		}
		dst.Data = appendUint(dst.Data, ix, width)
	}
	dst.N += n
	return nil
}

// merge adds another page's words, and tells where each of them is.
func (d *dictionary) merge(words *block.Values, limit int64) ([]uint64, error) {
	if d.words == nil {
		var err error
		if d.words, err = newValues(d.typ.ValueType, limit); err != nil {
			return nil, err
		}
		d.own = true
	}
	if d.words == nil || !sameShape(d.words, words) || words.Kind != block.Fixed && words.Kind != block.Variable || words.Kind == block.Fixed && words.Bits%8 != 0 {
		return nil, unsupported("dictionary of %v", d.typ.ValueType)
	}
	if !d.own {
		c := *d.words
		c.Data, c.Offsets, c.Limit = bytes.Clone(c.Data), append([]int64(nil), c.Offsets...), limit
		d.words, d.own = &c, true
	}
	if d.at == nil {
		d.at = make(map[string]uint64, d.words.N)
		for i := range d.words.N {
			d.at[string(word(d.words, i))] = uint64(i)
		}
	}
	remap := make([]uint64, words.N)
	for i := range remap {
		w := word(words, i)
		ix, ok := d.at[string(w)]
		if !ok {
			ix = uint64(d.words.N)
			if bytesOf(d.words)+int64(len(w))+8 > limit {
				return nil, overLimit("a dictionary of %d values", ix)
			}
			if d.words.Kind == block.Variable {
				if len(d.words.Offsets) == 0 {
					d.words.Offsets = append(d.words.Offsets, 0)
				}
				d.words.Offsets = append(d.words.Offsets, int64(len(d.words.Data)+len(w)))
			}
			d.words.Data = append(d.words.Data, w...)
			d.words.N++
			d.at[string(w)] = ix
		}
		remap[i] = ix
	}
	return remap, nil
}

// word is the bytes of one value.
func word(v *block.Values, i int) []byte {
	if v.Kind == block.Variable {
		return v.Data[v.Offsets[i]:v.Offsets[i+1]]
	}
	w := v.Bits / 8
	return v.Data[i*w : (i+1)*w]
}

func sameWords(a, b *block.Values) bool {
	if a.N != b.N || !sameShape(a, b) || a.Kind != block.Fixed && a.Kind != block.Variable {
		return false
	}
	if a.Kind == block.Fixed && a.Bits%8 != 0 {
		return false
	}
	for i := range a.N {
		if !bytes.Equal(word(a, i), word(b, i)) {
			return false
		}
	}
	return true
}

// readUint reads the i-th integer of some width.
func readUint(b []byte, i, width int) uint64 {
	switch width {
	case 1:
		return uint64(b[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b[4*i:]))
	case 8:
		return binary.LittleEndian.Uint64(b[8*i:])
	}
	return absent
}

func appendUint(b []byte, v uint64, width int) []byte {
	switch width {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// array makes the dictionary array of the indices.
func (d *dictionary) array(dt arrow.DataType, indices *block.Values, valid []byte, nulls int) (arrow.Array, error) {
	if ix := d.typ.IndexType.(arrow.FixedWidthDataType); indices.Kind != block.Fixed || indices.Bits != ix.BitWidth() {
		return nil, corrupt("values that are no indices in a column of type %v", dt)
	}
	words := d.words
	if words == nil {
		var err error
		if words, err = newValues(d.typ.ValueType, indices.Limit); err != nil {
			return nil, err
		}
		if words == nil {
			return nil, unsupported("%v", dt)
		}
	}
	width := indices.Bits / 8
	most := uint64(1) << (indices.Bits - 1) // of signed indices
	if words.N > 0 && uint64(words.N)-1 >= most && indices.Bits < 64 {
		if t := d.typ.IndexType.ID(); t == arrow.INT8 || t == arrow.INT16 || t == arrow.INT32 || uint64(words.N)-1 >= 2*most {
			return nil, overLimit("a dictionary of %d values for %v", words.N, d.typ.IndexType)
		}
	}
	for i := range indices.N {
		if ix := readUint(indices.Data, i, width); ix < uint64(words.N) {
			continue
		} else if valid == nil || valid[i>>3]>>(i&7)&1 != 0 {
			return nil, corrupt("index %d into a dictionary of %d values", ix, words.N)
		}
		clear(indices.Data[i*width : (i+1)*width])
	}
	values, err := words.Array(column.Storage(d.typ.ValueType), nil, 0)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	ix, err := indices.Array(d.typ.IndexType, valid, nulls)
	if err != nil {
		return nil, err
	}
	defer ix.Release()
	data := array.NewDataWithDictionary(dt, ix.Len(), ix.Data().Buffers(), nulls, 0, values.Data().(*array.Data))
	defer data.Release()
	return array.MakeFromData(data), nil
}
