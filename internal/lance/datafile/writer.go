package datafile

import (
	"context"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Writer writes a data file from front to back. It fails for good at the first
// error of the object below it.
type Writer struct {
	w   objects.Writer
	pos uint64
	buf []byte
}

// NewWriter starts a data file. buf is what ranges are copied through where
// the store can't copy inside itself.
func NewWriter(w objects.Writer, buf []byte) *Writer { return &Writer{w: w, buf: buf} }

// Pos is how many bytes have been written.
func (w *Writer) Pos() uint64 { return w.pos }

var zeros [Alignment]byte

// Align pads with zeros up to the next multiple of Alignment.
func (w *Writer) Align() error {
	if n := w.pos % Alignment; n != 0 {
		return w.write(zeros[:Alignment-n])
	}
	return nil
}

func (w *Writer) write(p []byte) error {
	n, err := w.w.Write(p)
	w.pos += uint64(n)
	return err
}

// Copy appends a range of another file and returns where it lies now: at a
// multiple of Alignment.
func (w *Writer) Copy(ctx context.Context, r objects.Reader, s Span) (pos uint64, err error) {
	if err := w.Align(); err != nil {
		return 0, err
	}
	pos = w.pos
	if err := objects.CopyRange(ctx, w.w, r, int64(s.Pos), int64(s.Size), w.buf); err != nil {
		return 0, err
	}
	w.pos += s.Size
	return pos, nil
}

// Buffer appends a buffer and returns where it lies: at a multiple of Alignment.
func (w *Writer) Buffer(b []byte) (pos uint64, err error) {
	if err := w.Align(); err != nil {
		return 0, err
	}
	pos = w.pos
	return pos, w.write(b)
}

// Page appends the buffers of a page, and tells the page where they lie. An empty buffer keeps its place among them, as
// encodings count buffers.
func (w *Writer) Page(p *pb.ColumnMetadata_Page, buffers [][]byte) error {
	for _, b := range buffers {
		pos := uint64(0)
		if len(b) > 0 {
			var err error
			if pos, err = w.Buffer(b); err != nil {
				return err
			}
		}
		p.BufferOffsets, p.BufferSizes = append(p.BufferOffsets, pos), append(p.BufferSizes, uint64(len(b)))
	}
	return nil
}

// Finish writes everything behind the pages and publishes the file.
func (w *Writer) Finish(ctx context.Context, major, minor uint16, d *pb.FileDescriptor, columns []*pb.ColumnMetadata) (objects.Entry, error) {
	det := proto.MarshalOptions{Deterministic: true}
	if err := w.Align(); err != nil {
		return objects.Entry{}, err
	}
	le := binary.LittleEndian
	b, err := det.Marshal(d)
	if err != nil {
		return objects.Entry{}, fmt.Errorf("encoding file descriptor: %w", err)
	}
	bufTable := le.AppendUint64(nil, w.pos)
	bufTable = le.AppendUint64(bufTable, uint64(len(b)))
	metaStart := w.pos + uint64(len(b))
	var colTable []byte
	for i, c := range columns {
		pos := w.pos + uint64(len(b))
		if b, err = det.MarshalAppend(b, c); err != nil {
			return objects.Entry{}, fmt.Errorf("encoding metadata of column %d: %w", i, err)
		}
		colTable = le.AppendUint64(colTable, pos)
		colTable = le.AppendUint64(colTable, w.pos+uint64(len(b))-pos)
	}
	colStart := w.pos + uint64(len(b))
	b = append(b, colTable...)
	bufStart := w.pos + uint64(len(b))
	b = append(b, bufTable...)
	b = le.AppendUint64(b, metaStart)
	b = le.AppendUint64(b, colStart)
	b = le.AppendUint64(b, bufStart)
	b = le.AppendUint32(b, 1) // global buffers: the descriptor alone
	b = le.AppendUint32(b, uint32(len(columns)))
	b = le.AppendUint16(b, major)
	b = le.AppendUint16(b, minor)
	b = append(b, magic...)
	if err := w.write(b); err != nil {
		return objects.Entry{}, err
	}
	return w.w.Finish(ctx)
}
