package compact

import (
	"context"
	"fmt"
	"math/bits"
	"path"
	"strconv"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	keyPackSize = "lance-encoding:blob-pack-file-size-threshold"
	// defaultPack is where Lance starts another file of packed blobs.
	defaultPack = 1 << 30
)

// packMost is how large files of packed blobs of a field get.
func packMost(f *table.Field) uint64 {
	if n, err := strconv.ParseUint(f.Metadata[keyPackSize], 10, 64); err == nil && n > 0 {
		return n
	}
	return defaultPack
}

// sidecarPath is the name of a file of blobs beside a data file: the bits of its id, the lowest first.
func sidecarPath(data string, id uint32) string {
	return path.Join(strings.TrimSuffix(data, ".lance"), fmt.Sprintf("%032b.blob", bits.Reverse32(id)))
}

// sidecars are the files of blobs beside one new data file. Its name in the journal stands for them, too.
type sidecars struct {
	store objects.Store
	// data is the name of the data file.
	data string
	buf  []byte
	next uint32
	// names of all that were begun, and the sizes of those that are there, by id - 1.
	names []string
	sizes []int64
	// pack is the file of packed blobs that is being written, if any.
	pack   objects.Writer
	packID uint32
	packed uint64
}

// begin starts another file.
func (s *sidecars) begin(ctx context.Context) (uint32, objects.Writer, error) {
	s.next++
	name := sidecarPath(s.data, s.next)
	w, err := s.store.Create(ctx, name)
	if err != nil {
		return 0, nil, fmt.Errorf("creating %s: %w", name, err)
	}
	s.names, s.sizes = append(s.names, name), append(s.sizes, -1)
	return s.next, w, nil
}

// end publishes a file.
func (s *sidecars) end(ctx context.Context, id uint32, w objects.Writer) error {
	e, err := w.Finish(ctx)
	if err != nil {
		return fmt.Errorf("writing %s: %w", s.names[id-1], err)
	}
	s.sizes[id-1] = e.Size
	return nil
}

// copy appends a range of an object to a file.
func (s *sidecars) copy(ctx context.Context, w objects.Writer, r objects.Reader, x datafile.Span) error {
	if s.buf == nil {
		s.buf = make([]byte, objects.CopyBuffer)
	}
	return objects.CopyRange(ctx, w, r, int64(x.Pos), int64(x.Size), s.buf)
}

// finish publishes what is being written.
func (s *sidecars) finish(ctx context.Context) error {
	if s.pack == nil {
		return nil
	}
	w := s.pack
	s.pack = nil
	if err := s.end(ctx, s.packID, w); err != nil {
		w.Abort()
		return err
	}
	return nil
}

// abort drops what is being written.
func (s *sidecars) abort() {
	if s.pack != nil {
		s.pack.Abort()
		s.pack = nil
	}
}

// verify looks whether all files are there as they were written, and returns how many bytes they have.
func (s *sidecars) verify(ctx context.Context) (bytes int64, err error) {
	for i, name := range s.names {
		r, err := s.store.Open(ctx, name)
		if err != nil {
			return 0, fmt.Errorf("reading back: %w", err)
		}
		size := r.Entry().Size
		r.Close()
		if size != s.sizes[i] {
			return 0, fmt.Errorf("reading back %s: %d bytes, not %d", name, size, s.sizes[i])
		}
		bytes += size
	}
	return bytes, nil
}

// beside is where a file of blobs of an old data file lies.
func beside(data scan.Located, id uint32) scan.Located {
	name := sidecarPath(data.Name, id)
	return scan.Located{Store: data.Store, Name: name, Label: strings.Replace(data.Label, data.Name, name, 1)}
}

// dedicated copies a blob that has a file to itself.
func (m *blobMover) dedicated(ctx context.Context, data scan.Located, id uint32, x datafile.Span) (uint32, error) {
	at := beside(data, id)
	r, err := m.reader(ctx, at)
	if err != nil {
		return 0, err
	}
	if err := check(r, at, x); err != nil {
		return 0, err
	}
	to, w, err := m.side.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	if err := m.side.copy(ctx, w, r, x); err != nil {
		return 0, fmt.Errorf("copying %s: %w", at.Label, err)
	}
	m.moved(int64(x.Size))
	return to, m.side.end(ctx, to, w)
}

// packer copies packed blobs of one old data file, those that lie behind each other at once.
type packer struct {
	m  *blobMover
	at scan.Located
	// most is how large a file may get before another one is begun.
	most uint64
	// run is what is still to be copied, of the old file with that id.
	run datafile.Span
	id  uint32
}

// add has a blob copied, and says to which file and where in it.
func (p *packer) add(ctx context.Context, id uint32, x datafile.Span) (to uint32, pos uint64, err error) {
	s := p.m.side
	at := beside(p.at, id)
	if id != p.id || x.Pos != p.run.Pos+p.run.Size {
		if err := p.flush(ctx); err != nil {
			return 0, 0, err
		}
	}
	if s.pack != nil && s.packed > 0 && s.packed+x.Size > p.most {
		if err := p.flush(ctx); err != nil {
			return 0, 0, err
		}
		if err := s.finish(ctx); err != nil {
			return 0, 0, err
		}
	}
	r, err := p.m.reader(ctx, at)
	if err != nil {
		return 0, 0, err
	}
	if err := check(r, at, x); err != nil {
		return 0, 0, err
	}
	if s.pack == nil {
		if s.packID, s.pack, err = s.begin(ctx); err != nil {
			return 0, 0, err
		}
		s.packed = 0
	}
	if p.run.Size == 0 {
		p.id, p.run = id, datafile.Span{Pos: x.Pos}
	}
	pos = s.packed
	p.run.Size += x.Size
	s.packed += x.Size
	return s.packID, pos, nil
}

// flush copies what is still to be copied.
func (p *packer) flush(ctx context.Context) error {
	if p.run.Size == 0 {
		return nil
	}
	at := beside(p.at, p.id)
	r, err := p.m.reader(ctx, at)
	if err == nil {
		err = p.m.side.copy(ctx, p.m.side.pack, r, p.run)
	}
	n := int64(p.run.Size)
	p.run = datafile.Span{}
	if err != nil {
		return fmt.Errorf("copying %s: %w", at.Label, err)
	}
	p.m.moved(n)
	return nil
}
