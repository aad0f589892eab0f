package block

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// packed is structs of fields of fixed width, row behind row.
type packed struct {
	fields []int // bytes of each
	row    int
}

func newPacked(e *pb.CompressiveEncoding_PackedStruct) (packed, error) {
	f, err := newFlat(e.GetValues().GetFlat())
	if err != nil || f.bits == 1 {
		return packed{}, unsupported("packed struct of %s", Describe(e.GetValues()))
	}
	var p packed
	for _, b := range e.GetBitsPerValue() {
		if b == 0 || b%8 != 0 || b > maxBits {
			return p, unsupported("packed struct with a field of %d bits", b)
		}
		p.fields = append(p.fields, int(b/8))
		if p.row += int(b / 8); p.row > maxBits/8 {
			return p, unsupported("packed struct of %d bytes", p.row)
		}
	}
	if 8*p.row != f.bits {
		return p, corrupt("fields of %d bits in rows of %d bits", 8*p.row, f.bits)
	}
	return p, nil
}

func (p packed) buffers() int { return 1 }

func (p packed) shape() *Values {
	v := &Values{Kind: Struct}
	for _, b := range p.fields {
		v.Fields = append(v.Fields, &Values{Kind: Fixed, Bits: 8 * b})
	}
	return v
}

func (p packed) append(dst *Values, buffers [][]byte, n, from, to int) error {
	rows := buffers[0]
	if len(rows) != n*p.row {
		return corrupt("%d bytes for %d rows of %d bytes", len(rows), n, p.row)
	}
	rows = rows[from*p.row : to*p.row]
	at := 0
	for i, bytes := range p.fields {
		f := dst.Fields[i]
		longer, out := extend(f.Data, (to-from)*bytes)
		if len(rows) > 0 {
			pick(out, rows[at:], bytes, p.row)
		}
		f.Data = longer
		f.N += to - from
		at += bytes
	}
	dst.N += to - from
	return nil
}

// pick fills out with a field of a number of bytes out of each row.
func pick(out, rows []byte, bytes, row int) {
	le := binary.LittleEndian
	switch bytes {
	case 4:
		for i := 0; i+4 <= len(out); i += 4 {
			le.PutUint32(out[i:i+4], le.Uint32(rows))
			rows = rows[min(row, len(rows)):]
		}
	case 8:
		for i := 0; i+8 <= len(out); i += 8 {
			le.PutUint64(out[i:i+8], le.Uint64(rows))
			rows = rows[min(row, len(rows)):]
		}
	default:
		for len(out) > 0 {
			copy(out[:bytes], rows)
			out, rows = out[bytes:], rows[min(row, len(rows)):]
		}
	}
}
