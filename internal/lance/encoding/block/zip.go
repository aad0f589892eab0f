package block

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// NewZip makes a decoder of the values of full-zip pages.
func NewZip(enc *pb.CompressiveEncoding) (Zip, error) {
	z, err := newZip(enc, 0)
	if err != nil {
		return nil, named(enc, err)
	}
	return z, nil
}

func newZip(enc *pb.CompressiveEncoding, depth int) (Zip, error) {
	if depth > maxDepth {
		return nil, unsupported("more than %d encodings inside each other", maxDepth)
	}
	switch e := enc.GetEncoding().(type) {
	case *pb.CompressiveEncoding_Flat_, *pb.CompressiveEncoding_FixedSizeList_, *pb.CompressiveEncoding_Constant_:
		return newRows(enc)
	case *pb.CompressiveEncoding_Variable_:
		if _, err := newVariable(e.Variable); err != nil {
			return nil, err
		}
		return &stringZip{enc: enc}, nil
	case *pb.CompressiveEncoding_Fsst:
		v, err := newFSSTChunk(e.Fsst) // the same tree, of which only the table matters here
		if err != nil {
			return nil, err
		}
		return &symbolZip{stringZip{enc: enc}, v.(variable).symbol}, nil
	case *pb.CompressiveEncoding_General_:
		s := e.General.GetCompression().GetScheme()
		if err := general.Check(s); err != nil {
			return nil, err
		}
		inner, err := newZip(e.General.GetValues(), depth+1)
		if err != nil {
			return nil, err
		}
		if _, fixed := inner.(*rows); fixed {
			return nil, unsupported("general compression of %s in a full-zip page", Describe(e.General.GetValues()))
		}
		return &compressedZip{enc, s, inner}, nil
	case *pb.CompressiveEncoding_VariablePackedStruct_:
		return newStructZip(enc, e.VariablePackedStruct, depth)
	}
	return nil, unsupported("%s in a full-zip page", Describe(enc))
}

// stringZip is values as they are.
type stringZip struct{ enc *pb.CompressiveEncoding }

var stringShape = Values{Kind: Variable}

func (z *stringZip) Bits() int               { return 0 }
func (z *stringZip) New(limit int64) *Values { return stringShape.empty(limit) }

func (z *stringZip) AppendFixed(*Values, []byte, int) error { return notFixed(z.enc) }

func notFixed(enc *pb.CompressiveEncoding) error {
	return named(enc, corrupt("values of varying length in a page of fixed width"))
}

func (z *stringZip) AppendVariable(dst *Values, value []byte) error {
	if dst.Kind != Variable {
		if err := dst.take(&stringShape); err != nil {
			return named(z.enc, err)
		}
	}
	if need := int64(len(dst.Data)+len(value)) + 8*int64(len(dst.Offsets)+1); need > dst.Limit {
		return named(z.enc, fmt.Errorf("%w: %d bytes, %d allowed", column.ErrLimit, need, dst.Limit))
	}
	dst.Data = append(dst.Data, value...)
	dst.Offsets = append(dst.Offsets, int64(len(dst.Data)))
	dst.N++
	return nil
}

// symbolZip is values compressed with a symbol table.
type symbolZip struct {
	stringZip
	symbol *fsst.Table
}

func (z *symbolZip) AppendVariable(dst *Values, value []byte) error {
	if dst.Kind != Variable {
		if err := dst.take(&stringShape); err != nil {
			return named(z.enc, err)
		}
	}
	if err := dst.appendSymbols(z.symbol, value); err != nil {
		return named(z.enc, err)
	}
	return nil
}

// compressedZip is general compression of each value.
type compressedZip struct {
	enc    *pb.CompressiveEncoding
	scheme pb.BufferCompression_Scheme
	inner  Zip
}

func (z *compressedZip) Bits() int               { return 0 }
func (z *compressedZip) New(limit int64) *Values { return z.inner.New(limit) }

func (z *compressedZip) AppendFixed(*Values, []byte, int) error { return notFixed(z.enc) }

func (z *compressedZip) AppendVariable(dst *Values, value []byte) error {
	return named(z.enc, z.try(dst, value))
}

func (z *compressedZip) try(dst *Values, value []byte) error {
	if _, ok := z.inner.(*stringZip); ok {
		if err := dst.take(&stringShape); err != nil {
			return err
		}
		if err := dst.room(8); err != nil {
			return err
		}
		data, err := general.Append(dst.Data, value, z.scheme, dst.Limit-dst.size()-8)
		if err != nil {
			return err
		}
		dst.Data = data
		dst.Offsets = append(dst.Offsets, int64(len(data)))
		dst.N++
		return nil
	}
	s := borrow()
	defer s.giveBack()
	var err error
	if s.bytes, err = general.Append(s.bytes[:0], value, z.scheme, max(dst.Limit, minWorking)); err != nil {
		return err
	}
	return z.inner.AppendVariable(dst, s.bytes)
}
