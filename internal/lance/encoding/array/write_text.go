package array

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// strings encodes strings: few different ones as a dictionary, others as they are or
// compressed as the field's metadata wishes.
func (w *pageWriter) strings(typ arrow.DataType, in []piece) (*pb.ArrayEncoding, error) {
	if typ.ID() == arrow.STRING {
		if enc := w.fewStrings(in); enc != nil {
			return enc, nil
		}
	}
	if w.wish.scheme == "fsst" && symbolsFor(typ) {
		if enc := w.symbols(in); enc != nil {
			return enc, nil
		}
	}
	return w.binary(in, w.wish)
}

// binary encodes strings as their ends and their bytes.
func (w *pageWriter) binary(in []piece, c compression) (*pb.ArrayEncoding, error) {
	at := len(w.ends)
	parts := make([][]byte, 0, len(in))
	var size uint64
	for _, p := range in {
		w.ends = appendEnds(w.ends, p, size)
		if b := p.text(); len(b) > 0 {
			parts = append(parts, b)
			size += uint64(len(b))
		}
	}
	ends := w.ends[at:]
	adjust := size + 1
	markNulls(ends, in, adjust)
	return w.binaryOf(ends, w.join(parts), adjust, c)
}

// markNulls adds to the ends of what is null.
func markNulls(ends []byte, in []piece, adjust uint64) {
	le := binary.LittleEndian
	for _, p := range in {
		of := ends[:p.n*8]
		ends = ends[p.n*8:]
		valid := p.valid()
		if valid == nil {
			continue
		}
		for i := range p.n {
			if !bitutil.BitIsSet(valid, p.from+i) {
				le.PutUint64(of[i*8:], le.Uint64(of[i*8:])+adjust)
			}
		}
	}
}

// binaryOf adds the buffers of strings. Bytes that don't shrink are not compressed.
func (w *pageWriter) binaryOf(ends, bytes []byte, adjust uint64, c compression) (*pb.ArrayEncoding, error) {
	m := &pb.ArrayEncoding_Binary{Ends: withoutNulls(w.flat(64, ends)), NullAdjustment: adjust}
	var how *pb.ArrayEncoding_Compression
	if scheme, ok := schemes[c.scheme]; ok && len(bytes) > 0 {
		at := len(w.compressed)
		var err error
		w.compressed, err = general.Compress(w.compressed, bytes, scheme, c.level)
		if err != nil && !errors.Is(err, general.ErrTooLong) {
			return nil, err
		}
		if made := w.compressed[at:]; err == nil && len(made) < len(bytes) {
			bytes = made
			how = &pb.ArrayEncoding_Compression{Scheme: c.scheme}
			if c.level != 0 {
				how.Level = proto.Int32(int32(c.level))
			}
		}
	}
	m.Bytes = w.flat(8, bytes)
	m.Bytes.GetFlat().Compression = how
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Binary_{Binary: m}}, nil
}
