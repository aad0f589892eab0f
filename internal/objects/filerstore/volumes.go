package filerstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/security"
	util_http "github.com/seaweedfs/seaweedfs/weed/util/http"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// maxVolumes bounds the remembered locations; a cluster has far fewer volumes,
// so starting over when it is reached costs nothing.
const maxVolumes = 1 << 16

// volumes remembers which servers hold which volume, until a read there fails.
type volumes struct {
	mu sync.Mutex
	at map[string][]string
}

func volumeOf(fid string) string {
	vid, _, _ := strings.Cut(fid, ",")
	return vid
}

// InvalidateCache implements weed's filer.CacheInvalidator.
func (v *volumes) InvalidateCache(fid string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.at, volumeOf(fid))
}

func (v *volumes) get(vid string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.at[vid]
}

func (v *volumes) put(vid string, servers []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.at == nil || len(v.at) >= maxVolumes {
		v.at = map[string][]string{}
	}
	v.at[vid] = servers
}

// lookupVolumes asks a filer where volumes are.
func (c *Cluster) lookupVolumes(ctx context.Context, vids ...string) (map[string]*filer_pb.Locations, error) {
	var found map[string]*filer_pb.Locations
	err := c.Do(ctx, func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		resp, err := client.LookupVolume(ctx, &filer_pb.LookupVolumeRequest{VolumeIds: vids})
		found = resp.GetLocationsMap()
		return err
	})
	return found, err
}

// locate returns the addresses a chunk can be read at, copies on local disks
// before those in a remote tier, else in random order.
func (c *Cluster) locate(ctx context.Context, fid string) ([]string, error) {
	vid := volumeOf(fid)
	servers := c.volumes.get(vid)
	if len(servers) == 0 {
		found, err := c.lookupVolumes(ctx, vid)
		if err != nil {
			return nil, fmt.Errorf("looking up volume %s: %w", vid, err)
		}
		locations := slices.Clone(found[vid].GetLocations())
		rand.Shuffle(len(locations), func(i, j int) { locations[i], locations[j] = locations[j], locations[i] })
		slices.SortStableFunc(locations, func(a, b *filer_pb.Location) int {
			return b2i(a.GetDataInRemote()) - b2i(b.GetDataInRemote())
		})
		for _, l := range locations {
			servers = append(servers, l.GetUrl())
		}
		if len(servers) == 0 {
			return nil, fmt.Errorf("looking up volume %s: no server holds it", vid)
		}
		c.volumes.put(vid, servers)
	}
	urls := make([]string, len(servers))
	for i, s := range servers {
		// The scheme is what the global client makes of it.
		urls[i] = "http://" + s + "/" + fid
	}
	return urls, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// errGone tells that no server has the chunk any more.
var errGone = errors.New("no volume server has it")

// fromVolume reads a chunk, or n bytes of it from off on when n >= 0, at one
// location after the other, and once more where a fresh lookup says it is.
// Take starts anew each time it is called.
func (c *Cluster) fromVolume(ctx context.Context, fid string, off, n, length int64, take func(io.Reader) error) error {
	var failures []error
	missing, tried := 0, 0
	for pass := range 2 {
		if pass > 0 && missing < tried && len(c.cfg.Pauses) > 0 {
			// A server that is overloaded deserves a moment.
			if err := pause(ctx, c.cfg.Pauses[0]); err != nil {
				return err
			}
		}
		urls, err := c.locate(ctx, fid)
		if err != nil {
			return errors.Join(append(failures, err)...)
		}
		for _, url := range urls {
			tried++
			err := c.get(ctx, url, fid, off, n, length, take)
			if err == nil || ctx.Err() != nil || errors.Is(err, objects.ErrDenied) {
				return err
			}
			if errors.Is(err, errGone) {
				missing++
			}
			failures = append(failures, err)
		}
		c.volumes.InvalidateCache(fid)
	}
	err := errors.Join(failures...)
	if missing == tried {
		return fmt.Errorf("chunk %s: %w", fid, errGone)
	}
	return fmt.Errorf("reading chunk %s: %w", fid, err)
}

// get makes one request to one server.
func (c *Cluster) get(ctx context.Context, url, fid string, off, n, length int64, take func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.transferTime(length))
	defer cancel()
	// Like weed's own readers: a chunk that is deleted while a reader is in the
	// object is still there until its volume is vacuumed.
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"?readDeleted=true", nil)
	if err != nil {
		return err
	}
	if n >= 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	}
	if jwt := filer.ChunkReadJwt([]string{url}, fid); jwt != "" {
		req.Header.Set("Authorization", security.BearerPrefix+jwt)
	}
	resp, err := util_http.GetGlobalHttpClient().Do(req)
	if err != nil {
		return err
	}
	defer func() {
		// What is left is read so that the connection can be used again, unless
		// it is a lot.
		io.CopyN(io.Discard, resp.Body, 16<<10)
		resp.Body.Close()
	}()
	switch resp.StatusCode {
	case http.StatusOK:
		if n >= 0 {
			// The server did not heed the range.
			if _, err := io.CopyN(io.Discard, resp.Body, off); err != nil {
				return fmt.Errorf("%s: skipping to byte %d: %w", url, off, short(err))
			}
		}
	case http.StatusPartialContent:
		if got := resp.Header.Get("Content-Range"); n >= 0 && !strings.HasPrefix(got, fmt.Sprintf("bytes %d-", off)) {
			return fmt.Errorf("%s: asked for bytes from %d, got %q", url, off, got)
		}
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", url, errGone)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s: %w: %w", url, objects.ErrDenied, util_http.StatusError(url, resp))
	default:
		return util_http.StatusError(url, resp)
	}
	if err := take(resp.Body); err != nil {
		return fmt.Errorf("%s: %w", url, short(err))
	}
	return nil
}

// short keeps the end of a chunk from looking like the end of the object.
func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the chunk is shorter than its entry says")
	}
	return err
}

// transferTime is how long moving n bytes may take.
func (c *Cluster) transferTime(n int64) time.Duration {
	return c.cfg.TransferTimeout + time.Duration(max(0, n)/transferRate)*time.Second
}
