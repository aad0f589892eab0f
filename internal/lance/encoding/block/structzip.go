package block

import (
	"encoding/binary"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// structZip is structs of which some field varies in length: row behind row, the fields in
// order, those of varying length with their length in front.
type structZip struct {
	enc    *pb.CompressiveEncoding
	like   *Values
	fields []structField
}

type structField struct {
	Zip
	bytes  int // of a value, or
	length int // of a length: 4 or 8
}

func newStructZip(enc *pb.CompressiveEncoding, e *pb.CompressiveEncoding_VariablePackedStruct, depth int) (*structZip, error) {
	s := &structZip{enc: enc, like: &Values{Kind: Struct}}
	for i, f := range e.GetFields() {
		z, err := newZip(f.GetValue(), depth+1)
		if err != nil {
			return nil, err
		}
		field := structField{Zip: z, bytes: z.Bits() / 8}
		switch w := f.GetWidth().(type) {
		case *pb.CompressiveEncoding_VariablePackedStruct_Field_BitsPerValue:
			if z.Bits() == 0 || w.BitsPerValue != uint64(z.Bits()) {
				return nil, corrupt("field %d of %d bits is %s", i, w.BitsPerValue, Describe(f.GetValue()))
			}
		case *pb.CompressiveEncoding_VariablePackedStruct_Field_BitsPerLength:
			if _, fixed := z.(*rows); fixed {
				return nil, corrupt("field %d of varying length is %s", i, Describe(f.GetValue()))
			}
			if w.BitsPerLength != 32 && w.BitsPerLength != 64 {
				return nil, unsupported("field %d with lengths of %d bits", i, w.BitsPerLength)
			}
			field.length = int(w.BitsPerLength / 8)
		default:
			return nil, corrupt("field %d has no width", i)
		}
		s.fields = append(s.fields, field)
		s.like.Fields = append(s.like.Fields, z.New(0))
	}
	return s, nil
}

func (s *structZip) Bits() int               { return 0 }
func (s *structZip) New(limit int64) *Values { return s.like.empty(limit) }

func (s *structZip) AppendFixed(*Values, []byte, int) error { return notFixed(s.enc) }

func (s *structZip) AppendVariable(dst *Values, value []byte) error {
	if err := s.try(dst, value); err != nil {
		return named(s.enc, err)
	}
	return nil
}

func (s *structZip) try(dst *Values, row []byte) error {
	if err := dst.take(s.like); err != nil {
		return err
	}
	left := row
	for i := range s.fields {
		f := &s.fields[i]
		n := f.bytes
		if f.length > 0 {
			if len(left) < f.length {
				return corrupt("field %d ends behind its row of %d bytes", i, len(row))
			}
			var stored uint64
			if f.length == 4 {
				stored = uint64(binary.LittleEndian.Uint32(left))
			} else {
				stored = binary.LittleEndian.Uint64(left)
			}
			if left = left[f.length:]; stored > uint64(len(left)) {
				return corrupt("field %d of %d bytes ends behind its row of %d bytes", i, stored, len(row))
			}
			n = int(stored)
		}
		if len(left) < n {
			return corrupt("field %d ends behind its row of %d bytes", i, len(row))
		}
		var err error
		if f.length > 0 {
			err = f.AppendVariable(dst.Fields[i], left[:n])
		} else {
			err = f.AppendFixed(dst.Fields[i], left[:n], 1)
		}
		if err != nil {
			return err
		}
		if f.length > 0 {
			// Each field minds the limit for itself alone.
			if err := dst.room(0); err != nil {
				return err
			}
		}
		left = left[n:]
	}
	if len(left) > 0 {
		return corrupt("%d bytes behind the last field of a row of %d bytes", len(left), len(row))
	}
	dst.N++
	return dst.room(0)
}
