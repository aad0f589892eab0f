package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The Arrow IPC file of a deletion array is read here rather than by the Arrow
// library, which sizes allocations by counts in the file. Only the one shape that a
// deletion array has is understood: one column of uint32 without nulls.
//
//	"ARROW1", padded with zeros to 8 bytes, or to 64 by Lance
//	messages:  u32 0xffffffff · i32 size · Message, padded · body
//	end:       u32 0xffffffff · i32 0, which old writers leave out
//	footer · i32 its size · "ARROW1"
//
// Messages are flatbuffers: a table is found by an offset, and its fields by a table of
// their positions.
const (
	arrowMagic      = "ARROW1"
	arrowHead       = 8
	arrowTail       = 4 + len(arrowMagic)
	continuation    = 0xffffffff
	headerSchema    = 1
	headerRecords   = 3
	footerBatches   = 3
	typeInt         = 2
	codecLZ4Frame   = 0
	codecZstd       = 1
	uncompressed    = -1
	structSize      = 16 // of a node, and of a buffer: two i64
	bytesOfRowIndex = 4
)

var errArrow = errors.New("not an Arrow file of one uint32 column")

// readArrowUint32 calls f with the values of each batch of such a file. Batches
// hold at most limit bytes of values in all.
func readArrowUint32(b []byte, limit int, f func([]uint32)) error {
	if len(b) < arrowHead+arrowTail || string(b[:len(arrowMagic)]) != arrowMagic || string(b[len(b)-len(arrowMagic):]) != arrowMagic {
		return fmt.Errorf("%w: no %q at both ends", errArrow, arrowMagic)
	}
	footer := int64(binary.LittleEndian.Uint32(b[len(b)-arrowTail:]))
	end := int64(len(b)-arrowTail) - footer
	if footer == 0 || end < arrowHead {
		return fmt.Errorf("%w: footer of %d bytes", errArrow, footer)
	}
	_, batches := flat{b: b[end : end+footer]}.root().vector(footerBatches)
	seen := false
	rest := b[arrowHead:end]
	for len(rest) >= 8 && binary.LittleEndian.Uint64(rest) == 0 {
		rest = rest[8:]
	}
	for len(rest) >= 8 && binary.LittleEndian.Uint32(rest) == continuation {
		size := int64(int32(binary.LittleEndian.Uint32(rest[4:])))
		if size == 0 {
			break
		}
		if size < 0 || size > int64(len(rest)-8) {
			return fmt.Errorf("%w: message of %d bytes", errArrow, size)
		}
		m := flat{b: rest[8 : 8+size]}
		msg := m.root()
		body := rest[8+size:]
		n := msg.int64(3)
		if n < 0 || n > int64(len(body)) {
			return fmt.Errorf("%w: body of %d bytes", errArrow, n)
		}
		body, rest = body[:n], body[n:]
		header := msg.table(2)
		switch msg.uint8(1) {
		case headerSchema:
			if err := checkSchema(header); err != nil {
				return err
			}
			seen = true
		case headerRecords:
			if !seen {
				return fmt.Errorf("%w: values before the schema", errArrow)
			}
			values, err := readBatch(header, body, limit)
			if err != nil {
				return err
			}
			limit -= len(values) * bytesOfRowIndex
			if batches == 0 {
				return fmt.Errorf("%w: more batches than its footer names", errArrow)
			}
			batches--
			f(values)
		default:
			return fmt.Errorf("%w: message of kind %d", errArrow, msg.uint8(1))
		}
	}
	if !seen {
		return fmt.Errorf("%w: no schema", errArrow)
	}
	if batches > 0 {
		return fmt.Errorf("%w: its footer names %d batches more", errArrow, batches)
	}
	return nil
}

func checkSchema(schema flatTable) error {
	if schema.uint8(0) != 0 {
		return fmt.Errorf("%w: big-endian", errArrow)
	}
	at, n := schema.vector(1)
	if n != 1 {
		return fmt.Errorf("%w: %d columns", errArrow, n)
	}
	field := schema.tableAt(at)
	integer := field.table(3)
	if field.uint8(2) != typeInt || integer.int32(0) != 32 || integer.uint8(1) != 0 {
		return fmt.Errorf("%w: a column of type %d", errArrow, field.uint8(2))
	}
	return nil
}

// readBatch decodes a record batch: its one node, and the second of its two
// buffers; the first would say which values are null.
func readBatch(batch flatTable, body []byte, limit int) ([]uint32, error) {
	rows := batch.int64(0)
	nodes, n := batch.vector(1)
	buffers, k := batch.vector(2)
	if n != 1 || k != 2 {
		return nil, fmt.Errorf("%w: %d columns in %d buffers", errArrow, n, k)
	}
	if batch.i64At(nodes) != rows || batch.i64At(nodes+8) != 0 {
		return nil, fmt.Errorf("%w: %d values, %d of them null", errArrow, batch.i64At(nodes), batch.i64At(nodes+8))
	}
	if rows < 0 || rows > int64(limit/bytesOfRowIndex) {
		return nil, fmt.Errorf("%w: %d rows", errArrow, rows)
	}
	off, size := batch.i64At(buffers+structSize), batch.i64At(buffers+structSize+8)
	if off < 0 || size < 0 || off > int64(len(body)) || size > int64(len(body))-off {
		return nil, fmt.Errorf("%w: buffer at %d, %d bytes long, in a body of %d", errArrow, off, size, len(body))
	}
	raw, want := body[off:off+size], int(rows)*bytesOfRowIndex
	if c := batch.table(3); c.ok() && size > 0 {
		var err error
		if raw, err = inflate(c.uint8(0), raw, want); err != nil {
			return nil, err
		}
	}
	if len(raw) < want {
		return nil, fmt.Errorf("%w: %d bytes for %d rows", errArrow, len(raw), rows)
	}
	values := make([]uint32, rows)
	for i := range values {
		values[i] = binary.LittleEndian.Uint32(raw[i*bytesOfRowIndex:])
	}
	return values, nil
}

// inflate decompresses a buffer, which begins with its size when it is not.
func inflate(codec uint8, b []byte, want int) ([]byte, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%w: compressed buffer of %d bytes", errArrow, len(b))
	}
	size := int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	if size == uncompressed {
		return b, nil
	}
	// Writers may pad; no more than to the alignment of buffers.
	if size < int64(want) || size > int64(want)+64 {
		return nil, fmt.Errorf("%w: %d bytes for %d", errArrow, size, want)
	}
	var r io.Reader
	switch codec {
	case codecZstd:
		d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDeletionArray))
		if err != nil {
			return nil, fmt.Errorf("%w: %v", errArrow, err)
		}
		defer d.Close()
		r = d
	case codecLZ4Frame:
		r = lz4.NewReader(bytes.NewReader(b))
	default:
		return nil, fmt.Errorf("%w: compression %d", errArrow, codec)
	}
	out := make([]byte, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, fmt.Errorf("%w: decompressing: %v", errArrow, err)
	}
	return out, nil
}
