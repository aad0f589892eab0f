package sses3

import (
	"fmt"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

// Decoder decrypts the bytes of one object, after the volume servers' own
// encryption and compression are undone.
type Decoder struct {
	// object is the object's own key, if it has one.
	object *stream
	chunks map[string]*stream
}

// NewDecoder unwraps the keys of an object with the given chunks, those in its
// chunk manifests included.
func (k *Keys) NewDecoder(e *filer_pb.Entry, chunks []*filer_pb.FileChunk) (*Decoder, error) {
	d := &Decoder{chunks: make(map[string]*stream, len(chunks))}
	key, encrypted := objectKey(e)
	if encrypted {
		var err error
		if d.object, err = k.parse(key); err != nil {
			return nil, err
		}
	}
	for _, c := range chunks {
		fid, own := c.GetFileIdString(), c.GetSseType() == filer_pb.SSEType_SSE_S3
		if own && len(c.GetSseMetadata()) > 0 {
			s, err := k.parse(c.GetSseMetadata())
			switch {
			case err != nil:
				return nil, fmt.Errorf("chunk %s: %w", fid, err)
			case s == nil:
				return nil, fmt.Errorf("chunk %s: %w without an IV", fid, ErrKeys)
			}
			d.chunks[fid] = s
			continue
		}
		// Of parts that were uploaded one by one, each has an IV and the object has none.
		if d.object == nil && (own || encrypted) {
			return nil, fmt.Errorf("chunk %s: %w: neither it nor its object has a whole one", fid, ErrKeys)
		}
	}
	if d.object == nil && encrypted && len(chunks) == 0 && len(e.GetContent()) > 0 {
		return nil, fmt.Errorf("%w of the object without an IV", ErrKeys)
	}
	return d, nil
}

// Chunk decrypts bytes of a chunk: inChunk is where in the chunk they lie, and
// inObject where in the object. A chunk without a key of its own is under the
// object's; one of an object without a key is plain.
func (d *Decoder) Chunk(p []byte, fid string, inChunk, inObject int64) {
	if s := d.chunks[fid]; s != nil {
		s.xor(p, inChunk)
	} else if d.object != nil {
		d.object.xor(p, inObject)
	}
}

// Inline decrypts the bytes that the entry itself holds.
func (d *Decoder) Inline(p []byte) {
	if d.object != nil {
		d.object.xor(p, 0)
	}
}
