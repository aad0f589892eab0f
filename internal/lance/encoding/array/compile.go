package array

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// encoding is a page's tree, compiled: the same for all rows of the page and safe
// for concurrent use.
type encoding interface {
	// load asks for what rows [from, to) of the page need. The part is complete once
	// the rounds have run.
	load(r *read, from, to uint64) (part, error)
	// need appends the spans that load asks for at first.
	need(from, to uint64, out []datafile.Span) []datafile.Span
}

// part is some rows of one page.
type part interface {
	// prepare is called once all bytes are there, and returns how many bytes
	// of strings will be appended.
	prepare(r *read) (uint64, error)
	// appendTo decodes the rows behind those that are in the builder.
	appendTo(b *builder) error
}

// fixed is an encoding of values of one width.
type fixed interface {
	bits() uint64
	load(r *read, from, to uint64) (fixedPart, error)
	need(from, to uint64, out []datafile.Span) []datafile.Span
}

// fixedPart is some values of one width.
type fixedPart interface {
	// raw returns the values as they are in memory already, and the bit of the
	// first byte at which they begin: 0 unless they are of one bit. kept tells
	// that they are part of something larger.
	raw() (b []byte, bit int, kept, ok bool)
	// unpack writes the values, which must be of whole bytes; dst is of the size of all.
	unpack(dst []byte) error
}

// compiler turns encoding messages into encodings.
type compiler struct{ page *page }

// values compiles an encoding of values of a type.
func (c *compiler) values(typ arrow.DataType, e *pb.ArrayEncoding, depth int) (encoding, error) {
	if depth == 0 {
		return nil, corrupt("more than %d encodings within each other", maxDepth)
	}
	depth--
	typ = column.Storage(typ)
	switch t := e.GetEncoding().(type) {
	case *pb.ArrayEncoding_Nullable_:
		return c.nullable(typ, t.Nullable, depth)
	case *pb.ArrayEncoding_Dictionary_:
		return c.dictionary(typ, t.Dictionary, depth)
	case nil:
		return nil, unsupported("encoding unknown")
	}
	if bits, ok := fixedBits(typ); ok {
		if m := e.GetConstant(); m != nil && bits == 1 {
			return sameBit(len(m.GetValue()) > 0 && m.GetValue()[0] != 0), nil
		}
		f, err := c.fixed(e, depth)
		if err != nil {
			return nil, err
		}
		if f.bits() != bits {
			return nil, corrupt("%s has %d bits, its values have %d", typ, bits, f.bits())
		}
		return &fixedValues{f}, nil
	}
	if isVariable(typ) {
		return c.variable(typ, e, depth)
	}
	switch typ := typ.(type) {
	case *arrow.FixedSizeListType:
		return c.fixedSizeList(typ, e, depth)
	case *arrow.StructType:
		return c.packed(typ, e, depth)
	case *arrow.DictionaryType:
		return nil, corrupt("%s is stored as %s", typ, describe(e))
	case *arrow.NullType:
		return nil, corrupt("type null is stored as %s", describe(e))
	}
	return nil, unsupported("type %s in a file of version 2.0", typ)
}

// fixed compiles an encoding of values of one width.
func (c *compiler) fixed(e *pb.ArrayEncoding, depth int) (fixed, error) {
	if depth == 0 {
		return nil, corrupt("more than %d encodings within each other", maxDepth)
	}
	switch t := e.GetEncoding().(type) {
	case *pb.ArrayEncoding_Nullable_:
		n, ok := t.Nullable.GetNullability().(*pb.ArrayEncoding_Nullable_NoNulls_)
		if !ok {
			return nil, unsupported("%s where no value may be null", describe(e))
		}
		return c.fixed(n.NoNulls.GetValues(), depth-1)
	case *pb.ArrayEncoding_Flat_:
		return c.flat(t.Flat)
	case *pb.ArrayEncoding_Bitpacked_:
		return c.bitpacked(t.Bitpacked)
	case *pb.ArrayEncoding_BitpackedForNonNeg_:
		return c.transposed(t.BitpackedForNonNeg)
	case *pb.ArrayEncoding_Constant_:
		return &constant{t.Constant.GetValue()}, nil
	}
	return nil, unsupported("%s for values of one width", describe(e))
}

// buffer is where a buffer lies.
func (c *compiler) buffer(b *pb.ArrayEncoding_Buffer) (datafile.Span, error) {
	var all []datafile.Span
	if b == nil {
		return datafile.Span{}, corrupt("no buffer named")
	}
	i := uint64(b.GetIndex())
	from := func(kind string, offsets, sizes []uint64) (datafile.Span, error) {
		if i >= uint64(len(offsets)) || i >= uint64(len(sizes)) {
			return datafile.Span{}, corrupt("buffer %d of the %s, which has %d", i, kind, len(offsets))
		}
		return datafile.Span{Pos: offsets[i], Size: sizes[i]}, nil
	}
	switch b.GetHome() {
	case pb.ArrayEncoding_Buffer_PAGE:
		return from("page", c.page.meta.GetBufferOffsets(), c.page.meta.GetBufferSizes())
	case pb.ArrayEncoding_Buffer_COLUMN:
		return from("column", c.page.of.meta.GetBufferOffsets(), c.page.of.meta.GetBufferSizes())
	case pb.ArrayEncoding_Buffer_FILE:
		all = c.page.of.file.GlobalBuffers
		if i >= uint64(len(all)) {
			return datafile.Span{}, corrupt("buffer %d of the file, which has %d", i, len(all))
		}
		return all[i], nil
	}
	return datafile.Span{}, unsupported("buffer of home %d", b.GetHome())
}
