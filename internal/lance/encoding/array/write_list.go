package array

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// listWriter collects the ends of lists. Readers of Lance want that no page of items belongs to two pages
// of lists: those of items end where these do, and may end before.
type listWriter struct {
	of     *writer
	column int
	items  writeNode
	// ends are of the page that is being filled, u64 each; rows of them.
	ends []byte
	rows int
	// nulls are the rows that are null.
	nulls []uint32
	// count of the items.
	count uint64
}

func (l *listWriter) write(p piece) error {
	most := int(min(max(l.of.full/64, 1), maxPageRows))
	for p.n > 0 {
		n := min(p.n, most-l.rows)
		part := p.head(n)
		from, to := part.span()
		l.append(part, from, to)
		kid := p.data.Children()[0]
		if err := l.items.write(piece{kid, kid.Offset() + from, to - from}); err != nil {
			return err
		}
		p = p.tail(n)
		if l.rows >= most {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// append takes the ends of lists whose items are [from, to).
func (l *listWriter) append(p piece, from, to int) {
	l.ends = appendEnds(l.ends, p, l.count)
	if valid := p.valid(); valid != nil {
		for i := range p.n {
			if !bitutil.BitIsSet(valid, p.from+i) {
				l.nulls = append(l.nulls, uint32(l.rows+i))
			}
		}
	}
	l.rows += p.n
	l.count += uint64(to - from)
}

// flush writes a page of lists, and pages of the items that are not written yet.
func (l *listWriter) flush() error {
	if l.rows == 0 {
		return l.items.flush() // a struct among them has to say that there is none of it
	}
	adjust := l.count + 1
	for _, i := range l.nulls {
		b := l.ends[i*8:]
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+adjust)
	}
	var w pageWriter
	enc := &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_List_{List: &pb.ArrayEncoding_List{
		Offsets: withoutNulls(w.flat(64, l.ends)), NullAdjustment: adjust, NumItems: l.count,
	}}}
	err := l.of.page(l.column, l.rows, enc, w.buffers)
	l.ends, l.nulls, l.rows, l.count = nil, nil, 0, 0
	if err != nil {
		return err
	}
	return l.items.flush()
}

func (l *listWriter) held() int64 {
	return int64(cap(l.ends)) + int64(cap(l.nulls))*4 + l.items.held()
}

// appendEnds appends the ends of strings or lists, which go on from base.
func appendEnds(dst []byte, p piece, base uint64) []byte {
	if p.n == 0 {
		return dst
	}
	o := offsetsOf(p.data)
	at := len(dst)
	dst = grown(dst, p.n*8)
	if o.off64 != nil {
		putEnds(dst[at:], o.off64[p.from:p.from+p.n+1], base)
	} else {
		putEnds(dst[at:], o.off32[p.from:p.from+p.n+1], base)
	}
	return dst
}

func putEnds[T int32 | int64](dst []byte, offsets []T, base uint64) {
	shift := base - uint64(offsets[0])
	for i, v := range offsets[1:] {
		binary.LittleEndian.PutUint64(dst[i*8:], uint64(v)+shift)
	}
}

// grown makes a slice longer by n bytes, whose values are any.
func grown(b []byte, n int) []byte {
	if len(b)+n <= cap(b) {
		return b[:len(b)+n]
	}
	out := make([]byte, len(b)+n, max(len(b)+n, 2*cap(b)))
	copy(out, b)
	return out
}
