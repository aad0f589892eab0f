package datafile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	footerSize = 40
	tableEntry = 16 // u64 position, u64 size
	magic      = "LANC"
	// Alignment of page buffers.
	Alignment = 64
	// tailRead is the first read of a file: footer, tables, metadata and schema
	// of most files lie in it.
	tailRead = 64 << 10
	// maxMetadata bounds everything that is read of a file besides its pages.
	// 10,000 columns of 100 pages stay below it.
	maxMetadata = 256 << 20
)

// ErrCorrupt is wrapped by every error about bytes that contradict the format.
var ErrCorrupt = errors.New("corrupt data file")

// Span is a range of bytes of a file.
type Span struct{ Pos, Size uint64 }

// File is an open data file with its metadata decoded and checked: every span
// in it lies inside the file, every page has as many sizes as positions.
type File struct {
	Reader       objects.Reader
	Major, Minor uint32
	Descriptor   *pb.FileDescriptor
	Columns      []*pb.ColumnMetadata
	// GlobalBuffers includes buffer 0, the descriptor.
	GlobalBuffers []Span
	// DataEnd is where page buffers end at the latest.
	DataEnd uint64
}

// Open opens a data file and reads its metadata. The caller closes it.
func Open(ctx context.Context, s objects.Store, name string) (*File, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err // the store names the object
	}
	f, err := Read(ctx, r)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.Reader.Close() }

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// tail is the end of a file, as much as was read of it.
type tail struct {
	ctx  context.Context
	r    objects.Reader
	size uint64
	from uint64 // position of b[0]
	b    []byte
}

// at returns the bytes of a span, reading more of the file when needed.
func (t *tail) at(what string, s Span) ([]byte, error) {
	if s.Pos > t.size || s.Size > t.size-s.Pos {
		return nil, corrupt("%s at %d, %d bytes long, in a file of %d bytes", what, s.Pos, s.Size, t.size)
	}
	if s.Pos >= t.from {
		return t.b[s.Pos-t.from:][:s.Size], nil
	}
	if s.Size > maxMetadata {
		return nil, corrupt("%s of %d bytes", what, s.Size)
	}
	p := make([]byte, s.Size)
	if err := t.r.ReadAt(t.ctx, p, int64(s.Pos)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	return p, nil
}

// Read reads the metadata of a data file that is already open. The File closes it.
func Read(ctx context.Context, r objects.Reader) (*File, error) {
	t := &tail{ctx: ctx, r: r, size: uint64(r.Entry().Size)}
	if t.size < footerSize {
		return nil, corrupt("%d bytes are too few for a data file", t.size)
	}
	t.from = t.size - min(t.size, tailRead)
	t.b = make([]byte, t.size-t.from)
	if err := r.ReadAt(ctx, t.b, int64(t.from)); err != nil {
		return nil, fmt.Errorf("reading the footer: %w", err)
	}
	foot := t.b[len(t.b)-footerSize:]
	if got := string(foot[36:]); got != magic {
		return nil, corrupt("ends with %q where a data file has %q", got, magic)
	}
	le := binary.LittleEndian
	f := &File{Reader: r, Major: uint32(le.Uint16(foot[32:])), Minor: uint32(le.Uint16(foot[34:]))}
	metaStart, colTable, bufTable := le.Uint64(foot), le.Uint64(foot[8:]), le.Uint64(foot[16:])
	buffers, columns := uint64(le.Uint32(foot[24:])), uint64(le.Uint32(foot[28:]))
	if metaStart > colTable || colTable > bufTable || bufTable > t.size-footerSize {
		return nil, corrupt("footer: metadata at %d, tables at %d and %d, %d bytes", metaStart, colTable, bufTable, t.size)
	}
	if colTable+columns*tableEntry > bufTable || bufTable+buffers*tableEntry > t.size-footerSize {
		return nil, corrupt("footer: %d columns and %d global buffers don't fit", columns, buffers)
	}
	if t.size-metaStart > maxMetadata {
		return nil, corrupt("metadata of %d bytes", t.size-metaStart)
	}
	if metaStart < t.from { // one more read for all of the metadata
		b, err := t.at("metadata", Span{metaStart, t.size - metaStart})
		if err != nil {
			return nil, err
		}
		t.from, t.b = metaStart, b
	}
	f.DataEnd = metaStart
	if err := f.readBuffers(t, Span{bufTable, buffers * tableEntry}); err != nil {
		return nil, err
	}
	return f, f.readColumns(t, Span{colTable, columns * tableEntry})
}

// spans decodes a table of positions and sizes.
func (t *tail) spans(what string, at Span) ([]Span, error) {
	b, err := t.at(what, at)
	if err != nil {
		return nil, err
	}
	s := make([]Span, len(b)/tableEntry)
	for i := range s {
		e := b[i*tableEntry:]
		s[i] = Span{binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])}
		if s[i].Pos > t.size || s[i].Size > t.size-s[i].Pos {
			return nil, corrupt("%s entry %d at %d, %d bytes long, in a file of %d bytes", what, i, s[i].Pos, s[i].Size, t.size)
		}
	}
	return s, nil
}

func (f *File) readBuffers(t *tail, table Span) error {
	var err error
	if f.GlobalBuffers, err = t.spans("global buffer table", table); err != nil {
		return err
	}
	if len(f.GlobalBuffers) == 0 {
		return corrupt("no global buffer, so no schema")
	}
	b, err := t.at("file descriptor", f.GlobalBuffers[0])
	if err != nil {
		return err
	}
	f.Descriptor = new(pb.FileDescriptor)
	if err := pb.Unmarshal(b, f.Descriptor); err != nil {
		return corrupt("file descriptor: %v", err)
	}
	return nil
}

func (f *File) readColumns(t *tail, table Span) error {
	spans, err := t.spans("column table", table)
	if err != nil {
		return err
	}
	f.Columns = make([]*pb.ColumnMetadata, len(spans))
	// Columns that share their metadata would each have a copy of it in memory.
	left := table.Pos - f.DataEnd
	for i, s := range spans {
		if s.Size > left {
			return corrupt("metadata of %d columns does not fit between %d and %d", len(spans), f.DataEnd, table.Pos)
		}
		left -= s.Size
		b, err := t.at(fmt.Sprintf("metadata of column %d", i), s)
		if err != nil {
			return err
		}
		c := new(pb.ColumnMetadata)
		if err := pb.Unmarshal(b, c); err != nil {
			return corrupt("metadata of column %d: %v", i, err)
		}
		for p, page := range c.GetPages() {
			if err := f.checkBuffers(page.GetBufferOffsets(), page.GetBufferSizes()); err != nil {
				return fmt.Errorf("column %d, page %d: %w", i, p, err)
			}
		}
		if err := f.checkBuffers(c.GetBufferOffsets(), c.GetBufferSizes()); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
		f.Columns[i] = c
	}
	return nil
}

func (f *File) checkBuffers(offsets, sizes []uint64) error {
	if len(offsets) != len(sizes) {
		return corrupt("%d buffer positions and %d sizes", len(offsets), len(sizes))
	}
	for i, off := range offsets {
		if off > f.DataEnd || sizes[i] > f.DataEnd-off {
			return corrupt("buffer %d at %d, %d bytes long, beyond the data, which ends at %d", i, off, sizes[i], f.DataEnd)
		}
	}
	return nil
}
