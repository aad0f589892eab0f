package array

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// errAnew tells that values had better be decoded and encoded anew.
var errAnew = errors.New("better encoded anew")

// Keep returns a page with the rows of a page that lie in ranges, which column.CheckRanges has seen: values are gathered as they lie there,
// dictionaries and symbol tables stay. A page of a list's own column loses lists; which items these had is told by
// ItemsOf. buffers are those of the page; the result may refer to them, and lies in the memory of mem, if any. limit bounds what it takes beside that.
//
// ok is false when the page can't be treated so, or when that would take more than the limit.
func Keep(p *pb.ColumnMetadata_Page, buffers [][]byte, keep []column.Range, limit int64, mem *slab.Arena) (out column.Page, ok bool, err error) {
	k := &keeper{buffers: buffers, used: make([]bool, len(buffers)), out: make([][]byte, len(buffers)), left: limit, mem: mem}
	e, err := k.decode(p)
	if err == nil {
		e = proto.Clone(e).(*pb.ArrayEncoding)
		err = k.node(e, keep, maxDepth)
	}
	if err == nil {
		out = column.Page{Length: column.RowsOf(keep), Buffers: k.out}
		out.Encoding, err = column.Pack("/lance.encodings.ArrayEncoding", e)
	}
	switch {
	case err == nil:
		return out, true, nil
	case errors.Is(err, errAnew), errors.Is(err, column.ErrLimit), errors.Is(err, column.ErrUnsupported):
		return column.Page{}, false, nil
	}
	return column.Page{}, false, err
}

// ItemsOf returns, of a page of a list's own column, the items that the lists in ranges have, as ranges of all items of the
// page's lists. ok is false when that can't be told.
func ItemsOf(p *pb.ColumnMetadata_Page, buffers [][]byte, keep []column.Range) (items []column.Range, ok bool, err error) {
	if len(keep) == 0 {
		return nil, true, nil
	}
	k := &keeper{buffers: buffers, used: make([]bool, len(buffers))}
	e, err := k.decode(p)
	if err != nil {
		return nil, false, err
	}
	l := e.GetList()
	if l == nil {
		return nil, false, corrupt("a list is stored as %s", describe(e))
	}
	stored, err := k.ends(l.GetOffsets(), maxDepth)
	if errors.Is(err, errAnew) || errors.Is(err, column.ErrUnsupported) {
		return nil, false, nil
	}
	if err == nil {
		items, err = spans(stored, l.GetNullAdjustment(), keep, l.GetNumItems())
	}
	return items, err == nil, err
}

// IsStruct tells whether a page is that of a struct's own column.
func IsStruct(p *pb.ColumnMetadata_Page) (bool, error) {
	var e pb.ArrayEncoding
	err := unpack(p.GetEncoding(), "ArrayEncoding", &e)
	return err == nil && e.GetStruct() != nil, err
}

// decode reads the encoding of a page.
func (k *keeper) decode(p *pb.ColumnMetadata_Page) (*pb.ArrayEncoding, error) {
	if p.GetLength() > 1<<48 {
		return nil, corrupt("a page of %d rows", p.GetLength())
	}
	e := new(pb.ArrayEncoding)
	return e, unpack(p.GetEncoding(), "ArrayEncoding", e)
}

// keeper takes rows out of a page. Each buffer keeps its number.
type keeper struct {
	buffers [][]byte
	used    []bool
	out     [][]byte
	// left of the memory that is allowed.
	left int64
	mem  *slab.Arena
}

// buffer takes a buffer of the page, which may have one user.
func (k *keeper) buffer(b *pb.ArrayEncoding_Buffer) (int, []byte, error) {
	if b == nil {
		return 0, nil, corrupt("no buffer named")
	}
	i := uint64(b.GetIndex())
	switch {
	case b.GetHome() != pb.ArrayEncoding_Buffer_PAGE:
		return 0, nil, errAnew
	case i >= uint64(len(k.buffers)):
		return 0, nil, corrupt("buffer %d of the page, which has %d", i, len(k.buffers))
	case k.used[i]:
		return 0, nil, errAnew
	}
	k.used[i] = true
	return int(i), k.buffers[i], nil
}

// alloc makes room for a buffer.
func (k *keeper) alloc(n uint64) ([]byte, error) {
	if n > uint64(max(k.left, 0)) {
		return nil, errAnew
	}
	k.left -= int64(n)
	return k.mem.Bytes(int(n)), nil
}

// ends are the stored ends of a page: plain ones of 64 bits.
func (k *keeper) ends(e *pb.ArrayEncoding, depth int) ([]byte, error) {
	for n := e.GetNullable().GetNoNulls(); n != nil; n = e.GetNullable().GetNoNulls() {
		if depth--; depth <= 0 {
			return nil, corrupt("more than %d encodings within each other", maxDepth)
		}
		e = n.GetValues()
	}
	f := e.GetFlat()
	if f == nil || f.GetCompression() != nil || f.GetBitsPerValue() != 64 {
		return nil, errAnew
	}
	i, b, err := k.buffer(f.GetBuffer())
	if err == nil && k.out != nil {
		k.out[i] = nil
	}
	return b, err
}

// endBuffer is the number of the buffer of ends, which ends has looked at.
func endBuffer(e *pb.ArrayEncoding) int {
	for e.GetFlat() == nil {
		e = e.GetNullable().GetNoNulls().GetValues()
	}
	return int(e.GetFlat().GetBuffer().GetIndex())
}

// endAt is where value i ends.
func endAt(stored []byte, adjust, i uint64) (end uint64, null bool) {
	v := binary.LittleEndian.Uint64(stored[i*8:])
	if v >= adjust {
		return v - adjust, true
	}
	return v, false
}

// spans are the parts of what lists or strings have that those in ranges have. size is what there is in all.
func spans(stored []byte, adjust uint64, keep []column.Range, size uint64) ([]column.Range, error) {
	if adjust == 0 {
		return nil, corrupt("nulls have nothing added to their ends")
	}
	if last := keep[len(keep)-1].To; last > uint64(len(stored))/8 {
		return nil, corrupt("%d ends in %d bytes", last, len(stored))
	}
	out := make([]column.Range, 0, len(keep))
	at := uint64(0)
	for _, r := range keep {
		from := uint64(0)
		if r.From > 0 {
			from, _ = endAt(stored, adjust, r.From-1)
		}
		to, _ := endAt(stored, adjust, r.To-1)
		if from < at || to < from || to > size {
			return nil, corrupt("values %d to %d lie at %d to %d, behind %d, of %d", r.From, r.To, from, to, at, size)
		}
		if at = to; from < to {
			out = append(out, column.Range{From: from, To: to})
		}
	}
	return out, nil
}

// moveEnds takes the ends of rows, and lets them follow each other. It returns the new adjustment.
func (k *keeper) moveEnds(e *pb.ArrayEncoding, stored []byte, adjust uint64, keep []column.Range) (uint64, error) {
	out, err := k.alloc(8 * column.RowsOf(keep))
	if err != nil {
		return 0, err
	}
	total := uint64(0)
	for _, r := range keep {
		from := uint64(0)
		if r.From > 0 {
			from, _ = endAt(stored, adjust, r.From-1)
		}
		to, _ := endAt(stored, adjust, r.To-1)
		total += to - from
	}
	le, made, base := binary.LittleEndian, total+1, uint64(0)
	for _, r := range keep {
		prev := uint64(0)
		if r.From > 0 {
			prev, _ = endAt(stored, adjust, r.From-1)
		}
		shift := base - prev
		for i := r.From; i < r.To; i++ {
			end, null := endAt(stored, adjust, i)
			if end < prev {
				return 0, corrupt("value %d ends at %d, the one before at %d", i, end, prev)
			}
			prev = end
			if end += shift; null {
				end += made
			}
			out = le.AppendUint64(out, end)
		}
		base = prev + shift
	}
	k.out[endBuffer(e)] = out
	return made, nil
}
