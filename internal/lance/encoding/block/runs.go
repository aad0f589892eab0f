package block

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// runs is a buffer of values and one with the number of times that each is
// repeated, a byte each. The last run may be longer than what is left of the chunk: writers
// end chunks at powers of two.
type runs struct{ bytes int }

func newRuns(e *pb.CompressiveEncoding_RLE) (runs, error) {
	v, err := newFlat(e.GetValues().GetFlat())
	if err != nil || v.bits != 8 && v.bits != 16 && v.bits != 32 && v.bits != 64 {
		return runs{}, unsupported("runs of %s", Describe(e.GetValues()))
	}
	l, err := newFlat(e.GetRunLengths().GetFlat())
	if err != nil || l.bits != 8 {
		return runs{}, unsupported("run lengths of %s", Describe(e.GetRunLengths()))
	}
	return runs{v.bits / 8}, nil
}

func (r runs) buffers() int   { return 2 }
func (r runs) shape() *Values { return &Values{Kind: Fixed, Bits: 8 * r.bytes} }

func (r runs) append(dst *Values, buffers [][]byte, n, from, to int) error {
	values, lengths := buffers[0], buffers[1]
	if len(values) != len(lengths)*r.bytes {
		return corrupt("%d bytes of values for %d runs", len(values), len(lengths))
	}
	longer, out := extend(dst.Data, (to-from)*r.bytes)
	at := 0 // values so far, wanted or not
	for i, l := range lengths {
		if at >= n {
			return corrupt("%d runs, but %d values end with run %d", len(lengths), n, i-1)
		}
		start, end := max(at, from), min(at+int(l), to)
		at += int(l)
		if start < end {
			fill(out[(start-from)*r.bytes:(end-from)*r.bytes], values[i*r.bytes:], r.bytes)
		}
	}
	if at < n {
		return corrupt("%d runs of %d values in all, should be %d", len(lengths), at, n)
	}
	dst.Data = longer
	dst.N += to - from
	return nil
}

// fill fills out with repetitions of the first bytes of value.
func fill(out, value []byte, bytes int) {
	var w uint64
	le := binary.LittleEndian
	switch bytes {
	case 1:
		w = uint64(value[0]) * 0x0101010101010101
	case 2:
		w = uint64(le.Uint16(value)) * 0x0001000100010001
	case 4:
		w = uint64(le.Uint32(value)) * 0x0000000100000001
	default:
		w = le.Uint64(value)
	}
	for len(out) >= 8 {
		le.PutUint64(out, w)
		out = out[8:]
	}
	for i := range out {
		out[i] = byte(w >> (8 * i))
	}
}

// wholeRuns is runs in one buffer: u64 size of the values, values, lengths.
type wholeRuns struct{ runs }

func (r wholeRuns) buffers() int { return 1 }

func (r wholeRuns) append(dst *Values, buffers [][]byte, n, from, to int) error {
	b := buffers[0]
	if len(b) < 8 {
		return corrupt("%d bytes of runs", len(b))
	}
	size, b := binary.LittleEndian.Uint64(b), b[8:]
	if size > uint64(len(b)) {
		return corrupt("%d bytes of values in %d bytes of runs", size, len(b))
	}
	s := borrow()
	defer s.giveBack()
	s.buffers = append(s.buffers[:0], b[:size], b[size:])
	return r.runs.append(dst, s.buffers, n, from, to)
}
