package array

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// compression is what a field's metadata wishes for its strings. Version 2.0 has none for other values, and none that
// is not asked for.
type compression struct {
	scheme string
	level  int // of ZSTD; 0 is the default
}

// schemes of compression of whole buffers, by their names in the metadata and in encodings.
var schemes = map[string]pb.BufferCompression_Scheme{
	"lz4":  pb.BufferCompression_LZ4,
	"zstd": pb.BufferCompression_ZSTD,
}

// wishOf reads the metadata of a field. What is not understood is no wish, as for Lance.
func wishOf(md arrow.Metadata) compression {
	var c compression
	c.scheme, _ = md.GetValue("lance-encoding:compression")
	if v, ok := md.GetValue("lance-encoding:compression-level"); ok && c.scheme == "zstd" {
		if n, err := strconv.Atoi(v); err == nil && n >= -128 && n <= 22 {
			c.level = n
		}
	}
	return c
}

// symbols encodes strings with a symbol table. nil when they don't shrink by more than the table takes.
func (w *pageWriter) symbols(in []piece) *pb.ArrayEncoding {
	var parts [][]byte
	rows, size := countRows(in), int64(0)
	offsets := make([]int64, 1, rows+1)
	for _, p := range in {
		from, _ := p.span()
		o := offsetsOf(p.data)
		for i := range p.n {
			_, to := o.at(p.from + i)
			offsets = append(offsets, size+int64(to-from))
		}
		parts = append(parts, p.text())
		size = offsets[len(offsets)-1]
	}
	text := w.join(parts)
	e := fsst.Train(text, offsets)
	if e == nil {
		return nil
	}
	at := len(w.compressed)
	ends := make([]int64, len(offsets))
	w.compressed = e.AppendStrings(w.compressed, text, offsets, ends)
	codes := w.compressed[at:]
	if len(codes)+fsst.TableSize >= len(text) {
		return nil
	}
	begin := len(w.ends)
	w.ends = grown(w.ends, rows*8)
	putEnds(w.ends[begin:], ends, 0)
	adjust := uint64(len(codes)) + 1
	markNulls(w.ends[begin:], in, adjust)
	inner, _ := w.binaryOf(w.ends[begin:], codes, adjust, compression{})
	return &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Fsst{Fsst: &pb.ArrayEncoding_FSST{Binary: inner, SymbolTable: e.Table()}}}
}

// symbolsFor tells whether a type's strings can have a symbol table: Lance reads no others so.
func symbolsFor(t arrow.DataType) bool {
	w, _ := offsetBytes(column.Storage(t))
	return w == 4
}
