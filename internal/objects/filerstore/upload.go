package filerstore

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/operation"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/security"
	util_http "github.com/seaweedfs/seaweedfs/weed/util/http"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

// mime is what everything is stored as. To weed it also means: do not compress.
const mime = "application/octet-stream"

// giveBackTimeout bounds removing chunks that nothing names: it is done while
// somebody waits for an error, and what is left behind costs only space.
const giveBackTimeout = 20 * time.Second

// target is where the chunks of one object go.
type target struct {
	c    *Cluster
	path string
	conf configuration
	// collection as the gateway chooses it: left to the filer, which takes the
	// bucket's name, unless the filers are in a group.
	collection string
	// sealed encrypts the object's bytes with SSE-S3; nil where that is not asked for.
	sealed *sses3.Object
	// sending is what single requests to volume servers run under.
	sending context.Context
	// digests: volume servers are sent the MD5 of each chunk, as one of them did
	// not show by its tag that it had stored the bytes.
	digests atomic.Bool
}

func (s *store) target(ctx context.Context, path string) (*target, error) {
	conf, err := s.c.configuration(ctx)
	if err != nil {
		return nil, err
	}
	t := &target{c: s.c, path: path, conf: conf, sending: ctx}
	if conf.group != "" && s.bucket != "" {
		t.collection = conf.group + "_" + s.bucket
	}
	return t, nil
}

// assign has a place found for a chunk.
func (t *target) assign(ctx context.Context, size int) (resp *filer_pb.AssignVolumeResponse, err error) {
	err = t.c.Do(ctx, func(ctx context.Context, client filer_pb.SeaweedFilerClient) (err error) {
		resp, err = client.AssignVolume(ctx, &filer_pb.AssignVolumeRequest{
			Count:            1,
			Path:             t.path,
			Collection:       t.collection,
			ExpectedDataSize: uint64(size),
		})
		return err
	})
	if err == nil {
		err = filer_pb.AssignVolumeResponseError(resp)
	}
	switch {
	case errors.Is(err, filer_pb.ErrReadOnly):
		return nil, fmt.Errorf("assigning a volume: %w: %w", objects.ErrDenied, err)
	case err != nil:
		return nil, fmt.Errorf("assigning a volume: %w", err)
	case resp.GetFileId() == "" || resp.GetLocation().GetUrl() == "":
		return nil, errors.New("assigning a volume: the filer named none")
	}
	return resp, nil
}

// ledger notes the file ids that one object has used.
type ledger struct {
	mu sync.Mutex
	// stored hold a chunk each; of the strays it is not known what they hold.
	stored, strays []string
}

func (l *ledger) note(fid string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.stored = append(l.stored, fid)
	} else {
		l.strays = append(l.strays, fid)
	}
}

// all are the file ids that may hold bytes.
func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Concat(l.stored, l.strays)
}

// store stores a chunk of the object's bytes, which it may encrypt in place. Sum is their MD5, or nil.
func (t *target) store(ctx context.Context, data []byte, offset int64, sum []byte, body *bytes.Buffer, used *ledger) (*filer_pb.FileChunk, error) {
	if t.sealed == nil {
		return t.upload(ctx, data, offset, sum, body, used)
	}
	if err := t.sealed.Encrypt(data, offset); err != nil {
		return nil, err
	}
	chunk, err := t.upload(ctx, data, offset, nil, body, used)
	if err != nil {
		return nil, err
	}
	return chunk, t.sealed.Mark(chunk)
}

// upload stores a chunk as it is; sum is its MD5, or nil. Body is scratch space,
// kept by the caller from one chunk to the next.
func (t *target) upload(ctx context.Context, data []byte, offset int64, sum []byte, body *bytes.Buffer, used *ledger) (*filer_pb.FileChunk, error) {
	if sum == nil {
		made := md5.Sum(data)
		sum = made[:]
	}
	digest := base64.StdEncoding.EncodeToString(sum)
	for attempt := 0; ; attempt++ {
		chunk, err := t.uploadOnce(ctx, data, offset, digest, body, used)
		if err == nil {
			return chunk, nil
		}
		// The transport may still be sending from it.
		*body = bytes.Buffer{}
		if ctx.Err() == nil && errors.Is(err, errUntagged) {
			// Nothing is wrong with the server; with the digest it does not
			// come to this again.
			attempt--
			continue
		}
		if ctx.Err() != nil || errors.Is(err, objects.ErrDenied) || attempt >= len(t.c.cfg.Pauses) {
			return nil, err
		}
		if pause(ctx, t.c.cfg.Pauses[attempt]) != nil {
			return nil, err
		}
	}
}

// uploadOnce sends a chunk to one volume. Each attempt takes a new file id: of
// two that were sent to the same id under different cipher keys, the one that
// is heard last would stay, whatever the entry says.
func (t *target) uploadOnce(ctx context.Context, data []byte, offset int64, digest string, body *bytes.Buffer, used *ledger) (chunk *filer_pb.FileChunk, err error) {
	a, err := t.assign(ctx, len(data))
	if err != nil {
		return nil, err
	}
	defer func() { used.note(a.GetFileId(), err) }()
	url := "http://" + a.GetLocation().GetUrl() + "/" + a.GetFileId()
	if a.GetFsync() {
		url = util_http.AppendQueryParameter(url, "fsync", "true")
	}
	option := &operation.UploadOption{
		UploadUrl:   url,
		Cipher:      t.conf.cipher,
		MimeType:    mime,
		Jwt:         security.EncodedJwt(a.GetAuth()),
		BytesBuffer: body,
		MaxAttempts: 1,
	}
	byTag := t.byTag(a, data)
	if !byTag {
		option.Md5 = digest
	}
	uctx, cancel := context.WithTimeout(t.sending, t.c.transferTime(int64(len(data))))
	defer cancel()
	// Replicas are the volume server's to make; our uplink carries one copy.
	res, err := t.c.uploader.UploadData(uctx, data, option)
	if err != nil {
		return nil, fmt.Errorf("uploading %d bytes to %s: %w", len(data), a.GetFileId(), err)
	}
	if byTag {
		if err := checkTag(res.ETag, data); err != nil {
			t.digests.Store(true)
			return nil, fmt.Errorf("uploading %d bytes to %s: %w", len(data), a.GetFileId(), err)
		}
	}
	chunk = res.ToPbFileChunk(a.GetFileId(), offset, t.c.cfg.Now().UnixNano())
	switch {
	case chunk.GetSize() != uint64(len(data)):
		return nil, fmt.Errorf("uploading to %s: %d bytes stored of %d", a.GetFileId(), chunk.GetSize(), len(data))
	case chunk.GetIsCompressed():
		return nil, fmt.Errorf("uploading to %s: stored compressed", a.GetFileId())
	case chunk.GetETag() == "":
		chunk.ETag = digest
	case chunk.GetETag() != digest:
		return nil, fmt.Errorf("uploading to %s: stored with MD5 %s, sent with %s", a.GetFileId(), chunk.GetETag(), digest)
	}
	return chunk, nil
}

// saveManifest stores a chunk manifest, in the form weed's MaybeManifestize asks for.
func (t *target) saveManifest(ctx context.Context, body *bytes.Buffer, used *ledger) func(io.Reader, string, int64, int64, uint64) (*filer_pb.FileChunk, error) {
	return func(r io.Reader, _ string, offset int64, _ int64, _ uint64) (*filer_pb.FileChunk, error) {
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return t.upload(ctx, data, offset, nil, body, used)
	}
}

// giveBack removes chunks that no entry names and none ever will. What can't
// be removed is told to the log: it takes space until someone runs volume.fsck.
func (c *Cluster) giveBack(ctx context.Context, path string, fids []string) {
	if len(fids) == 0 {
		return
	}
	// The caller's context is often over just then.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	results := operation.DeleteFileIdsWithLookupVolumeId(ctx, c.cfg.DialOption, fids, func(vids []string) (map[string]*operation.LookupResult, error) {
		found, err := c.lookupVolumes(ctx, vids...)
		if err != nil {
			return nil, err
		}
		out := map[string]*operation.LookupResult{}
		for vid, locations := range found {
			r := &operation.LookupResult{VolumeOrFileId: vid}
			for _, l := range locations.GetLocations() {
				r.Locations = append(r.Locations, operation.Location{
					Url: l.GetUrl(), PublicUrl: l.GetPublicUrl(), DataCenter: l.GetDataCenter(), GrpcPort: int(l.GetGrpcPort()),
				})
			}
			out[vid] = r
		}
		return out, nil
	})
	for _, r := range results {
		// Not found is what it should be: the upload may never have arrived.
		if r.GetError() != "" && r.GetStatus() != 404 {
			c.cfg.Log.Warn("chunk left behind", "object", path, "chunk", r.GetFileId(), "error", r.GetError())
		}
	}
}
