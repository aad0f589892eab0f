package layout

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// keepZip takes rows as they lie there: each has its own control words and lengths.
func keepZip(f frame, l *pb.PageLayout_FullZip, buffers [][]byte, keep []column.Range, limit int64, mem *slab.Arena) (*pb.PageLayout, [][]byte, error) {
	z, err := newFullZip(f, l)
	if err != nil {
		return nil, nil, err
	}
	l = proto.Clone(l).(*pb.PageLayout_FullZip)
	made := &pb.PageLayout{Layout: &pb.PageLayout_FullZip_{FullZip: l}}
	rows := column.RowsOf(keep)
	if z.entry == 0 {
		out, err := gatherRows(buffers[0], keep, func(row uint64) uint64 { return row * uint64(z.word+z.size) }, limit, mem)
		l.NumItems, l.NumVisibleItems = uint32(rows), uint32(rows)
		return made, [][]byte{out}, err
	}
	index, width := buffers[1], int(z.entry)
	at := func(row uint64) uint64 { return readUint(index, int(row), width) }
	if err := z.ordered(at, keep, uint64(len(buffers[0]))); err != nil {
		return nil, nil, err
	}
	if rows > uint64(limit)/8 {
		return nil, nil, overLimit("%d rows", rows)
	}
	out, err := gatherRows(buffers[0], keep, at, limit-8*int64(rows), mem)
	if err != nil {
		return nil, nil, err
	}
	if !suits(l.GetValueCompression(), len(out), rows, z.starts) {
		return nil, nil, errAnew
	}
	starts := make([]uint64, 0, rows+1)
	end := uint64(0)
	for _, r := range keep {
		shift := end - at(r.From)
		for row := r.From; row < r.To; row++ {
			starts = append(starts, at(row)+shift)
		}
		end = at(r.To) + shift
	}
	starts = append(starts, end)
	slots, places := rows, rows
	if z.bitsRep > 0 {
		if slots, places, err = z.count(out); err != nil {
			return nil, nil, err
		}
		if places == 0 {
			return nil, nil, errAnew // nothing but lists without items, which have a page of their own kind
		}
	}
	l.NumItems, l.NumVisibleItems = uint32(slots), uint32(places)
	return made, [][]byte{out, positions(starts)}, nil
}

// ordered checks the positions of rows.
func (z *fullZip) ordered(at func(uint64) uint64, keep []column.Range, size uint64) error {
	if first, last := at(0), at(z.starts); first != 0 || last != size {
		return corrupt("rows from %d to %d of %d bytes", first, last, size)
	}
	before := uint64(0)
	for _, r := range keep {
		for row := r.From; row <= r.To; row++ {
			p := at(row)
			if p < before || p > size {
				return corrupt("row %d at %d, behind %d, of %d bytes", row, p, before, size)
			}
			before = p
		}
	}
	return nil
}

// gatherRows puts the bytes of ranges one behind the other; at tells where a row begins.
func gatherRows(data []byte, keep []column.Range, at func(row uint64) uint64, limit int64, mem *slab.Arena) ([]byte, error) {
	if len(keep) == 1 {
		return data[at(keep[0].From):at(keep[0].To)], nil
	}
	size := uint64(0)
	for _, r := range keep {
		size += at(r.To) - at(r.From)
	}
	if size > uint64(max(limit, 0)) {
		return nil, overLimit("%d bytes", size)
	}
	out := mem.Bytes(int(size))
	for _, r := range keep {
		out = append(out, data[at(r.From):at(r.To)]...)
	}
	return out, nil
}

// count counts the control words of rows, and those that have a place among the values.
func (z *fullZip) count(data []byte) (slots, places uint64, err error) {
	for len(data) > 0 {
		if len(data) < z.word {
			return 0, 0, corrupt("%d bytes where a control word of %d is due", len(data), z.word)
		}
		_, def := z.control(data)
		data = data[z.word:]
		slots++
		if def > z.meaning.MaxVisible {
			continue
		}
		places++
		size := uint64(z.size)
		if z.prefix > 0 {
			size = 0
			if def == 0 {
				if len(data) < z.prefix {
					return 0, 0, corrupt("%d bytes where a length of %d is due", len(data), z.prefix)
				}
				if z.prefix == 4 {
					size = uint64(binary.LittleEndian.Uint32(data))
				} else {
					size = binary.LittleEndian.Uint64(data)
				}
				data = data[z.prefix:]
			}
		}
		if size > uint64(len(data)) {
			return 0, 0, corrupt("a value of %d bytes in %d", size, len(data))
		}
		data = data[size:]
	}
	return slots, places, nil
}
