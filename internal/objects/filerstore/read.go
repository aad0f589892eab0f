package filerstore

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/util"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

const (
	// readsAtOnce bounds the chunks that one ReadAt fetches at a time.
	readsAtOnce = 8
	// cipherOverhead is what encryption adds to a chunk: nonce and tag.
	cipherOverhead = 64
)

var _ objects.Reader = (*reader)(nil)

// reader reads one object as its entry was when it was opened.
type reader struct {
	s         *store
	dir, base string
	entry     objects.Entry
	inline    []byte
	views     []*filer.ChunkView
	// sealed decrypts what was encrypted with SSE-S3; nil for all else.
	sealed *sses3.Decoder
}

// Entry implements objects.Reader.
func (r *reader) Entry() objects.Entry { return r.entry }

// Close implements objects.Reader.
func (r *reader) Close() error { return nil }

// ReadAt implements objects.Reader.
func (r *reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.check(off, int64(len(p))); err != nil {
		return err
	}
	if r.inline != nil {
		copy(p, r.inline[off:])
		return nil
	}
	if err := r.readChunks(ctx, p, off); err != nil {
		return fmt.Errorf("reading %s at %d: %w", r.entry.Name, off, r.whileGone(ctx, err))
	}
	return nil
}

// check finds ranges that the object does not have.
func (r *reader) check(off, n int64) error {
	if off < 0 || n < 0 {
		return fmt.Errorf("reading %s: %d bytes at %d", r.entry.Name, n, off)
	}
	if off > r.entry.Size || n > r.entry.Size-off {
		return fmt.Errorf("reading %s: %d bytes at %d of %d: %w", r.entry.Name, n, off, r.entry.Size, objects.ErrShort)
	}
	return nil
}

// readChunks fills p from all the chunks that it spans, at once.
func (r *reader) readChunks(ctx context.Context, p []byte, off int64) error {
	first := sort.Search(len(r.views), func(i int) bool {
		return r.views[i].ViewOffset+int64(r.views[i].ViewSize) > off
	})
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for i := first; len(p) > 0; i++ {
		if i >= len(r.views) || r.views[i].ViewOffset > off {
			g.Go(func() error { return fmt.Errorf("no chunk holds byte %d", off) })
			break
		}
		v := r.views[i]
		skip := off - v.ViewOffset
		n := min(int64(len(p)), int64(v.ViewSize)-skip)
		part, from := p[:n], v.OffsetInChunk+skip
		g.Go(func() error {
			err := r.s.c.readChunk(gctx, v, part, from)
			if err == nil && r.sealed != nil {
				r.sealed.Chunk(part, v.FileId, from, from+v.ViewOffset-v.OffsetInChunk)
			}
			return err
		})
		p, off = p[n:], off+n
	}
	return g.Wait()
}

// readChunk fills p from one chunk. Just the range is fetched, unless the
// chunk can only be decoded whole.
func (c *Cluster) readChunk(ctx context.Context, v *filer.ChunkView, p []byte, off int64) error {
	if v.CanRangeFetch() {
		n := int64(len(p))
		return c.fromVolume(ctx, v.FileId, off, n, n, func(body io.Reader) error {
			_, err := io.ReadFull(body, p)
			return err
		})
	}
	data, err := c.decoded.get(ctx, v.FileId, func() ([]byte, error) { return c.decode(ctx, v) })
	if err != nil {
		return err
	}
	if end := off + int64(len(p)); end > int64(len(data)) {
		return fmt.Errorf("chunk %s: %d bytes, its entry needs %d", v.FileId, len(data), end)
	}
	copy(p, data[off:])
	return nil
}

// decode fetches a whole chunk and returns its plain bytes.
func (c *Cluster) decode(ctx context.Context, v *filer.ChunkView) ([]byte, error) {
	size := int64(v.ChunkSize)
	if size < 0 || size > maxChunk {
		return nil, fmt.Errorf("chunk %s: %d bytes, too many to decode", v.FileId, v.ChunkSize)
	}
	var stored []byte
	err := c.fromVolume(ctx, v.FileId, 0, -1, size, func(body io.Reader) error {
		// The entry's word is a bound, not a reason to allocate.
		buf := bytes.NewBuffer(make([]byte, 0, min(size+cipherOverhead, defaultChunk+cipherOverhead)))
		if _, err := buf.ReadFrom(io.LimitReader(body, size+cipherOverhead+1)); err != nil {
			return err
		}
		stored = buf.Bytes()
		return nil
	})
	if err != nil {
		return nil, err
	}
	data := stored
	if len(v.CipherKey) > 0 {
		if data, err = util.Decrypt(stored, util.CipherKey(v.CipherKey)); err != nil {
			return nil, fmt.Errorf("decrypting chunk %s (%d bytes): %w", v.FileId, len(stored), err)
		}
		// Without a cipher the volume server or the transport inflates it.
		if v.IsGzipped {
			if data, err = inflate(data, size); err != nil {
				return nil, fmt.Errorf("decompressing chunk %s: %w", v.FileId, err)
			}
		}
	}
	if int64(len(data)) < size {
		return nil, fmt.Errorf("chunk %s: %d bytes, its entry says %d", v.FileId, len(data), size)
	}
	return data[:size], nil
}

// inflate inflates to at most limit bytes, by what the data begins with; what
// is not compressed after all is returned as it is.
func inflate(data []byte, limit int64) ([]byte, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(z, limit))
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxChunk))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return io.ReadAll(io.LimitReader(z, limit))
	default:
		return data, nil
	}
}

// whileGone tells a chunk that is gone because its object was removed from one
// that the volume servers lost.
func (r *reader) whileGone(ctx context.Context, err error) error {
	if !errors.Is(err, errGone) {
		return err
	}
	if _, lookup := r.s.c.LookupEntry(ctx, r.dir, r.base); errors.Is(lookup, objects.ErrNotFound) {
		return fmt.Errorf("%w meanwhile: %w", objects.ErrNotFound, err)
	}
	return err
}
