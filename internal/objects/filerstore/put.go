package filerstore

import (
	"context"
	"fmt"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

// upload is the bytes of one object on the volume servers.
type upload struct {
	chunks []*filer_pb.FileChunk
	size   int64
	sum    []byte
	// extended are attributes that the entry needs for its bytes to be read.
	extended map[string][]byte
	used     *ledger
	// pending tells that an entry which names it may exist, or come to exist.
	pending bool
}

// put is one entry to be created.
type put struct {
	name, dir, base string
	// exclusive: only if there is none yet.
	exclusive bool
	// made holds the bytes; where it is nil, make uploads them, and does it
	// again for each create that is sent after one that was not answered. That
	// one may have been carried out, and its chunks removed by whoever removed
	// or replaced its entry: they can't be named by a second entry.
	made *upload
	make func(ctx context.Context) (*upload, error)
}

// Publish implements objects.Store.
func (s *store) Publish(ctx context.Context, name string, content []byte) error {
	return s.small(ctx, name, content, true)
}

// Replace implements objects.Store. Should one of several attempts be held up
// on its way, it may still arrive after this has returned, and after a later
// Replace: what is replaced is a hint.
func (s *store) Replace(ctx context.Context, name string, content []byte) error {
	return s.small(ctx, name, content, false)
}

func (s *store) small(ctx context.Context, name string, content []byte, exclusive bool) error {
	dir, base, err := s.place(name)
	if err != nil {
		return err
	}
	_, err = s.put(ctx, put{name: name, dir: dir, base: base, exclusive: exclusive, make: func(ctx context.Context) (*upload, error) {
		w, err := s.newWriter(ctx, name)
		if err != nil {
			return nil, err
		}
		defer w.release()
		_, err = w.Write(content)
		var u *upload
		if err == nil {
			u, err = w.flush()
		}
		if err != nil {
			w.Abort()
		}
		return u, err
	}})
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
