package filerstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/encryption"
)

const (
	// cacheTimeout bounds the download of a whole object from a remote storage
	// by one filer, which goes on with it even when we stop waiting.
	cacheTimeout = 15 * time.Minute
	// resolveTimeout bounds reading all the chunk manifests of one object.
	resolveTimeout = 2 * time.Minute
)

// Open implements objects.Store. The entry is looked up once; the reader does
// not notice what happens to it later.
func (s *store) Open(ctx context.Context, name string) (objects.Reader, error) {
	dir, base, err := s.place(name)
	if err != nil {
		return nil, err
	}
	e, err := s.c.LookupEntry(ctx, dir, base)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	if !isObject(e) {
		return nil, fmt.Errorf("opening %s: a directory: %w", name, objects.ErrNotFound)
	}
	return s.opened(ctx, dir, name, e)
}

// opened opens an object by its entry, which may be one of some time ago.
func (s *store) opened(ctx context.Context, dir, name string, e *filer_pb.Entry) (objects.Reader, error) {
	r, err := s.open(ctx, dir, name, e)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	return r, nil
}

func (s *store) open(ctx context.Context, dir, name string, e *filer_pb.Entry) (*reader, error) {
	scheme := encryption.Object(e)
	if err := readable(scheme); err != nil {
		return nil, err
	}
	if isRemoteOnly(e) {
		var err error
		if e, err = s.c.cacheRemote(ctx, dir, e.GetName()); err != nil {
			return nil, err
		}
		scheme = encryption.Object(e)
	}
	entry, err := describe(name, e)
	if err != nil {
		return nil, err
	}
	r := &reader{s: s, dir: dir, base: e.GetName(), entry: entry}
	if isInline(e) {
		r.inline = e.GetContent()
		if scheme == encryption.SSES3 {
			if err := r.unseal(ctx, e, nil); err != nil {
				return nil, err
			}
			r.sealed.Inline(r.inline)
		}
		return r, nil
	}
	chunks, err := s.c.resolve(ctx, e.GetChunks())
	if err != nil {
		return nil, err
	}
	if found := encryption.Chunks(chunks); found != "" {
		scheme = found
	}
	if err := readable(scheme); err != nil {
		return nil, err
	}
	if scheme == encryption.SSES3 {
		if err := r.unseal(ctx, e, chunks); err != nil {
			return nil, err
		}
	}
	r.views, err = viewsOf(ctx, chunks, entry.Size)
	return r, err
}

// readable refuses the schemes whose keys are not the cluster's.
func readable(scheme string) error {
	if scheme == "" || scheme == encryption.SSES3 {
		return nil
	}
	return fmt.Errorf("%w with %s", ErrEncrypted, scheme)
}

// unseal finds the keys of an object under SSE-S3.
func (r *reader) unseal(ctx context.Context, e *filer_pb.Entry, chunks []*filer_pb.FileChunk) error {
	keys, err := r.s.c.sses3Keys(ctx)
	if err != nil {
		return err
	}
	r.sealed, err = keys.NewDecoder(e, chunks)
	return err
}

// cacheRemote has a filer copy an object from the remote storage that its
// directory is mounted on into the cluster, and returns the entry as it is then.
func (c *Cluster) cacheRemote(ctx context.Context, dir, name string) (*filer_pb.Entry, error) {
	// One more time, as the copy may be dropped again just when it is made.
	for range 2 {
		var e *filer_pb.Entry
		err := c.do(ctx, cacheTimeout, func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
			resp, err := client.CacheRemoteObjectToLocalCluster(ctx, &filer_pb.CacheRemoteObjectToLocalClusterRequest{Directory: dir, Name: name})
			e = resp.GetEntry()
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("caching from the remote storage: %w", err)
		}
		if e != nil && !isRemoteOnly(e) {
			return e, nil
		}
	}
	return nil, errors.New("caching from the remote storage: still remote only")
}

// resolve replaces chunk manifests by the chunks that they name.
func (c *Cluster) resolve(ctx context.Context, chunks []*filer_pb.FileChunk) ([]*filer_pb.FileChunk, error) {
	if !filer.HasChunkManifest(chunks) {
		return chunks, nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	data, _, err := filer.ResolveChunkManifest(ctx, c.locate, chunks, 0, math.MaxInt64, &c.volumes)
	if err != nil {
		return nil, fmt.Errorf("reading its chunk manifests: %w", err)
	}
	return data, nil
}

// viewsOf lays out which part of which chunk is seen where, the newest write
// winning, in the order of the object's bytes.
func viewsOf(ctx context.Context, chunks []*filer_pb.FileChunk, size int64) ([]*filer.ChunkView, error) {
	for _, c := range chunks {
		if c.GetOffset() < 0 || c.GetSize() > uint64(math.MaxInt64-c.GetOffset()) {
			return nil, fmt.Errorf("chunk %s at %d with %d bytes", c.GetFileIdString(), c.GetOffset(), c.GetSize())
		}
	}
	list, err := filer.ViewFromChunks(ctx, nil, chunks, 0, size)
	if err != nil {
		return nil, err
	}
	views := make([]*filer.ChunkView, 0, list.Len())
	for v := list.Front(); v != nil; v = v.Next {
		views = append(views, v.Value)
	}
	return views, nil
}
