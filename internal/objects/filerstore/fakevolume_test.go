package filerstore

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/volume_server_pb"
	"github.com/seaweedfs/seaweedfs/weed/storage/needle"
	"github.com/seaweedfs/seaweedfs/weed/util"
	util_http "github.com/seaweedfs/seaweedfs/weed/util/http"
)

// fakeVolume is a volume server.
type fakeVolume struct {
	volume_server_pb.UnimplementedVolumeServerServer
	host string
	port int

	mu      sync.Mutex
	needles map[string][]byte
	// graves are deleted needles that no vacuum has taken yet.
	graves map[string][]byte
	// gets are the requests for bytes: id and range.
	gets []string
	next int
	// wantFsync is asserted on uploads.
	wantFsync bool
	// refuse answers for uploads and downloads before they are looked at.
	refuse func(r *http.Request) int
	// serve replaces how a needle is served.
	serve func(w http.ResponseWriter, r *http.Request, data []byte)
	// uploads are the headers of each upload.
	uploads []http.Header
	// tag replaces the tag that an answer to an upload has; empty: none.
	tag func(tag string) string
	// spoil damages what an upload brings before it is stored.
	spoil func(data []byte)
}

func newFakeVolume(t *testing.T) *fakeVolume {
	v := &fakeVolume{needles: map[string][]byte{}, graves: map[string][]byte{}}
	s := httptest.NewServer(v)
	v.host = strings.TrimPrefix(s.URL, "http://")
	t.Cleanup(func() {
		s.Close()
		util_http.GetGlobalHttpClient().CloseIdleConnections()
	})
	server := grpc.NewServer()
	volume_server_pb.RegisterVolumeServerServer(server, v)
	addr := serve(t, server, "127.0.0.1:0")
	fmt.Sscanf(addr.ToGrpcAddress(), "127.0.0.1:%d", &v.port)
	// The connections that weed keeps for all of the process.
	t.Cleanup(func() { pb.InvalidateGrpcConnection(addr.ToGrpcAddress()) })
	return v
}

func (v *fakeVolume) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if v.refuse != nil {
		if code := v.refuse(r); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	fid := strings.TrimPrefix(r.URL.Path, "/")
	if r.Method == http.MethodPost {
		v.take(w, r, fid)
		return
	}
	v.mu.Lock()
	data, ok := v.needles[fid]
	if !ok && r.URL.Query().Get("readDeleted") == "true" {
		data, ok = v.graves[fid]
	}
	v.gets = append(v.gets, strings.TrimSpace(fid+" "+strings.TrimPrefix(r.Header.Get("Range"), "bytes=")))
	v.mu.Unlock()
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case v.serve != nil:
		v.serve(w, r, data)
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

func (v *fakeVolume) take(w http.ResponseWriter, r *http.Request, fid string) {
	form, err := r.MultipartReader()
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	part, err := form.NextPart()
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	data, err := io.ReadAll(part)
	if err != nil || v.wantFsync != (r.URL.Query().Get("fsync") == "true") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if v.spoil != nil {
		v.spoil(data)
	}
	sum := md5.Sum(data)
	digest := base64.StdEncoding.EncodeToString(sum[:])
	if want := part.Header.Get("Content-MD5"); want != "" && want != digest {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	v.needles[fid] = data
	h := r.Header.Clone()
	for k, values := range part.Header {
		h[k] = values
	}
	v.uploads = append(v.uploads, h)
	v.mu.Unlock()
	if part.Header.Get("Content-MD5") != "" {
		w.Header().Set("Content-MD5", digest)
	}
	tag := tagOf(data)
	if v.tag != nil {
		tag = v.tag(tag)
	}
	if tag != "" {
		w.Header().Set("ETag", strconv.Quote(tag))
	}
	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(map[string]any{"size": len(data)})
}

// tagOf is the tag of what a volume server would have on its disk: text is compressed there.
func tagOf(data []byte) string {
	if strings.HasPrefix(http.DetectContentType(data), "text/") {
		if zipped, err := util.GzipData(data); err == nil && len(zipped)*10 < len(data)*9 {
			data = zipped
		}
	}
	return (&needle.Needle{Checksum: needle.NewCRC(data)}).Etag()
}

func (v *fakeVolume) BatchDelete(_ context.Context, req *volume_server_pb.BatchDeleteRequest) (*volume_server_pb.BatchDeleteResponse, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	resp := &volume_server_pb.BatchDeleteResponse{}
	for _, fid := range req.FileIds {
		v.bury(fid)
		resp.Results = append(resp.Results, &volume_server_pb.DeleteResult{FileId: fid, Status: http.StatusAccepted})
	}
	return resp, nil
}

// chunk stores bytes and returns the chunk for an entry.
func (v *fakeVolume) chunk(offset int64, data []byte) *filer_pb.FileChunk {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next++
	fid := fmt.Sprintf("7,%x%08x", 0x800000+v.next, 0xd0000000+v.next)
	v.needles[fid] = slices.Clone(data)
	sum := md5.Sum(data)
	return &filer_pb.FileChunk{
		FileId: fid, Offset: offset, Size: uint64(len(data)), ModifiedTsNs: int64(v.next),
		ETag: base64.StdEncoding.EncodeToString(sum[:]),
	}
}

// drop removes the needles of an entry that the one replacing it does not keep.
func (v *fakeVolume) drop(e, next *filer_pb.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range e.GetChunks() {
		if !slices.ContainsFunc(next.GetChunks(), func(n *filer_pb.FileChunk) bool { return n.GetFileIdString() == c.GetFileIdString() }) {
			v.bury(c.GetFileIdString())
		}
	}
}

func (v *fakeVolume) bury(fid string) {
	if data, ok := v.needles[fid]; ok {
		v.graves[fid] = data
		delete(v.needles, fid)
	}
}

// vacuum takes deleted needles away for good.
func (v *fakeVolume) vacuum() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.graves)
}

// held are the ids of all needles.
func (v *fakeVolume) held() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var fids []string
	for fid := range v.needles {
		fids = append(fids, fid)
	}
	slices.Sort(fids)
	return fids
}

func (v *fakeVolume) took() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.gets)
}

// checkNeedles checks that every needle is named by an entry, and the other
// way round; extra are needles that may be there besides.
func (cl *fakeCluster) checkNeedles(extra int) {
	cl.t.Helper()
	named := map[string]bool{}
	cl.mu.Lock()
	for name, e := range cl.entries {
		for _, c := range e.Chunks {
			fid := c.GetFileIdString()
			named[fid] = true
			cl.volume.mu.Lock()
			if _, ok := cl.volume.needles[fid]; !ok {
				cl.t.Errorf("%s names chunk %s, which is gone", name, fid)
			}
			cl.volume.mu.Unlock()
		}
	}
	cl.mu.Unlock()
	loose := 0
	for _, fid := range cl.volume.held() {
		if !named[fid] {
			loose++
		}
	}
	if loose != extra {
		cl.t.Errorf("%d needles that no entry names, want %d", loose, extra)
	}
}
