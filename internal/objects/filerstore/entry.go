package filerstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// LookupEntry returns one entry, objects.ErrNotFound when there is none.
func (c *Cluster) LookupEntry(ctx context.Context, dir, name string) (*filer_pb.Entry, error) {
	var e *filer_pb.Entry
	err := c.Do(ctx, func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		resp, err := filer_pb.LookupEntry(ctx, client, &filer_pb.LookupDirectoryEntryRequest{Directory: dir, Name: name})
		if err != nil {
			return err
		}
		c.observe(resp.GetLogTsNs())
		e = resp.GetEntry()
		return nil
	})
	switch {
	case errors.Is(err, filer_pb.ErrNotFound):
		return nil, fmt.Errorf("looking up %s/%s: %w", dir, name, objects.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("looking up %s/%s: %w", dir, name, err)
	}
	return e, nil
}

// isObject tells entries that hold an object from bare directories. A directory
// holds one when a file was promoted to it; what an S3 client leaves behind for
// a key with a trailing slash does not count, as it names no object.
func isObject(e *filer_pb.Entry) bool {
	return !e.GetIsDirectory() || e.IsPrefixObject() || filer.FileSize(e) > 0
}

// isRemoteOnly tells that the bytes are in the remote storage alone.
func isRemoteOnly(e *filer_pb.Entry) bool {
	return e.IsInRemoteOnly() && len(e.GetContent()) == 0
}

// isInline tells that the entry itself holds the bytes.
func isInline(e *filer_pb.Entry) bool {
	n := len(e.GetContent())
	return n > 0 && (len(e.GetChunks()) == 0 || filer.FileSize(e) == uint64(n))
}

// sizeOf is an object's length; an error when stored numbers can't be one.
func sizeOf(e *filer_pb.Entry) (int64, error) {
	if isInline(e) {
		return int64(len(e.GetContent())), nil
	}
	for _, c := range e.GetChunks() {
		if c.GetOffset() < 0 || c.GetSize() > uint64(math.MaxInt64-c.GetOffset()) {
			return 0, fmt.Errorf("chunk %s at %d with %d bytes", c.GetFileIdString(), c.GetOffset(), c.GetSize())
		}
	}
	size := filer.FileSize(e)
	if size > math.MaxInt64 {
		return 0, fmt.Errorf("%d bytes", size)
	}
	return int64(size), nil
}

// describe turns a filer's entry into ours.
func describe(name string, e *filer_pb.Entry) (objects.Entry, error) {
	size, err := sizeOf(e)
	if err != nil {
		return objects.Entry{}, fmt.Errorf("entry of %s: %w", name, err)
	}
	tok, _ := token(e, true)
	return objects.Entry{Name: name, Size: size, ModTime: modTime(e), Token: tok}, nil
}

// token is the ETag and, as two objects alike have the same one, a slash and
// what tells them apart: the mark of the write that made the entry, or else
// the second in which it was written.
func token(e *filer_pb.Entry, chunks bool) (tok string, ok bool) {
	tag, ok := etag(e, chunks)
	if id := e.GetExtended()[s3_constants.SeaweedFSWriteId]; len(id) > 0 {
		return tag + "/" + string(id), ok
	}
	return fmt.Sprintf("%s/%d", tag, e.GetAttributes().GetMtime()), ok
}

// ETag returns the S3 ETag within an objects.Entry's Token of this package.
func ETag(token string) string {
	tag, _, _ := strings.Cut(token, "/")
	return tag
}

func modTime(e *filer_pb.Entry) time.Time {
	return time.Unix(e.GetAttributes().GetMtime(), int64(e.GetAttributes().GetMtimeNs()))
}

// etag is the ETag that the S3 gateway answers for the entry, without quotes,
// "" where it has none. With the chunks left out of the entry, ok tells whether
// it could be told all the same.
func etag(e *filer_pb.Entry, chunks bool) (tag string, ok bool) {
	if stored := strings.Trim(string(e.GetExtended()[s3_constants.ExtETagKey]), `"`); stored != "" {
		return stored, true
	}
	if r := e.GetRemoteEntry(); r.GetRemoteETag() != "" && e.GetAttributes().GetFileSize() == uint64(r.GetRemoteSize()) {
		// The remote's word counts while the local bytes are a copy of its own.
		synced := r.GetLastLocalSyncTsNs() > 0
		if !synced && !chunks {
			return "", false
		}
		if synced || len(e.GetChunks()) == 0 && len(e.GetContent()) == 0 {
			return strings.Trim(r.GetRemoteETag(), `"`), true
		}
	}
	if md5 := e.GetAttributes().GetMd5(); len(md5) > 0 {
		return fmt.Sprintf("%x", md5), true
	}
	if !chunks {
		// Nothing but chunks could tell, and an object without bytes has none.
		return "", filer.FileSize(e) == 0
	}
	if len(e.GetChunks()) == 0 {
		return "", true
	}
	return filer.ETagChunks(e.GetChunks()), true
}
