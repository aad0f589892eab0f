package block

import (
	"encoding/binary"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// variable is n+1 offsets, counted from their own start, and the bytes they point to,
// padded to the size of an offset. With a symbol table the bytes are compressed.
type variable struct {
	bytes  int // 4 or 8 per offset
	symbol *fsst.Table
}

func newVariable(e *pb.CompressiveEncoding_Variable) (variable, error) {
	if e.GetValues() != nil {
		return variable{}, unsupported("variable with a compressed buffer")
	}
	f := e.GetOffsets().GetFlat()
	if f == nil || f.GetData() != nil || f.GetBitsPerValue() != 32 && f.GetBitsPerValue() != 64 {
		return variable{}, unsupported("offsets of %s", Describe(e.GetOffsets()))
	}
	return variable{bytes: int(f.GetBitsPerValue() / 8)}, nil
}

func newFSSTChunk(e *pb.CompressiveEncoding_FSST) (decoder, error) {
	v := e.GetValues().GetVariable()
	if v == nil {
		return nil, unsupported("fsst of %s", Describe(e.GetValues()))
	}
	d, err := newVariable(v)
	if err != nil {
		return nil, err
	}
	d.symbol, err = fsst.Parse(e.GetSymbolTable())
	return d, err
}

func (v variable) buffers() int   { return 1 }
func (v variable) shape() *Values { return &Values{Kind: Variable} }

// offset reads one offset; anything above the length of a slice is as good as the largest.
func (v variable) offset(b []byte, i int) int {
	if v.bytes == 4 {
		return int(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return int(min(binary.LittleEndian.Uint64(b[8*i:]), 1<<62))
}

func (v variable) append(dst *Values, buffers [][]byte, n, from, to int) error {
	b := buffers[0]
	head := (n + 1) * v.bytes
	if len(b) < head {
		return corrupt("%d bytes for the offsets of %d values", len(b), n)
	}
	if first, last := v.offset(b, 0), v.offset(b, n); first != head || last < first || last > len(b) || len(b)-last >= 8 {
		return corrupt("%d values from %d to %d in %d bytes", n, first, last, len(b))
	}
	if v.symbol != nil {
		return v.expand(dst, b, from, to)
	}
	start, end := v.offset(b, from), v.offset(b, to)
	if start > end || end > len(b) {
		return corrupt("offset %d is %d, offset %d is %d, in %d bytes", from, start, to, end, len(b))
	}
	if err := dst.room(int64(end-start) + 8*int64(to-from)); err != nil {
		return err
	}
	last := len(dst.Offsets)
	dst.extendOffsets(to - from)
	if err := v.shift(dst.Offsets[last:], b[(from+1)*v.bytes:(to+1)*v.bytes], start, end, int64(len(dst.Data))); err != nil {
		dst.Offsets = dst.Offsets[:last]
		return err
	}
	dst.Data = append(dst.Data, b[start:end]...)
	dst.N += to - from
	return nil
}

// shift makes ends of stored offsets: start becomes base. None may be below the one before or above end.
func (v variable) shift(ends []int64, stored []byte, start, end int, base int64) error {
	prev := int64(start)
	base -= prev
	for i := range ends {
		var o int64
		if v.bytes == 4 {
			o = int64(binary.LittleEndian.Uint32(stored[4*i : 4*i+4]))
		} else {
			o = int64(binary.LittleEndian.Uint64(stored[8*i : 8*i+8]))
		}
		if o < prev {
			return corrupt("offset %d behind %d", o, prev)
		}
		ends[i] = base + o
		prev = o
	}
	if prev > int64(end) {
		return corrupt("offset %d behind the last, %d", prev, end)
	}
	return nil
}

// expand is append with a symbol table.
func (v variable) expand(dst *Values, b []byte, from, to int) error {
	start := v.offset(b, from)
	if whole := v.offset(b, to); start <= whole && whole <= len(b) && whole-start <= fsst.MaxStrings &&
		dst.room(fsst.MaxSymbol*int64(whole-start)+8*int64(to-from)) == nil {
		return v.expandAll(dst, b, from, to, b[start:whole])
	}
	for i := from; i < to; i++ {
		end := v.offset(b, i+1)
		if start > end || end > len(b) {
			return corrupt("offset %d is %d, the next %d, in %d bytes", i, start, end, len(b))
		}
		if err := dst.appendSymbols(v.symbol, b[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// expandAll is expand where the limit can't be reached.
func (v variable) expandAll(dst *Values, b []byte, from, to int, stored []byte) error {
	last := len(dst.Offsets)
	ends := dst.extendOffsets(to - from)
	err := v.shift(ends, b[(from+1)*v.bytes:(to+1)*v.bytes], v.offset(b, from), v.offset(b, to), 0)
	if err == nil {
		dst.Data, err = v.symbol.AppendStrings(dst.Data, stored, ends)
	}
	if err != nil {
		dst.Offsets = dst.Offsets[:last]
		return err
	}
	dst.N += to - from
	return nil
}

// appendSymbols appends one compressed value.
func (v *Values) appendSymbols(t *fsst.Table, value []byte) error {
	left := v.Limit - int64(len(v.Data)) - 8*int64(len(v.Offsets)+1)
	if int64(len(value))*fsst.MaxSymbol > left {
		n, err := t.Length(value)
		if err != nil {
			return err
		}
		if int64(n) > left {
			return fmt.Errorf("%w: %d bytes and a value of %d, %d allowed", column.ErrLimit, v.size(), n, v.Limit)
		}
	}
	data, err := t.Append(v.Data, value)
	if err != nil {
		return err
	}
	v.Data = data
	v.extendOffsets(1)[0] = int64(len(data))
	v.N++
	return nil
}
