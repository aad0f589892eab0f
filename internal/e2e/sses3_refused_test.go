package e2e

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"

	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// putUnderSSEC stores an object again, encrypted with a key of the client's own.
func (c *testCluster) putUnderSSEC(t *testing.T, path string) {
	t.Helper()
	was, err := c.S3().Get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("a key that the client alone has.")
	sum := md5.Sum(key)
	h := http.Header{
		"X-Amz-Server-Side-Encryption-Customer-Algorithm": {"AES256"},
		"X-Amz-Server-Side-Encryption-Customer-Key":       {base64.StdEncoding.EncodeToString(key)},
		"X-Amz-Server-Side-Encryption-Customer-Key-Md5":   {base64.StdEncoding.EncodeToString(sum[:])},
	}
	if _, err := c.S3().Do(t.Context(), http.MethodPut, path, h, was.Body); err != nil {
		t.Fatal(err)
	}
}

// markKMS marks an object as the gateway does those under SSE-KMS, for which it
// needs a key service that this cluster has not.
func markKMS(t *testing.T, filers *filerstore.Cluster, dir, name string) {
	t.Helper()
	e, err := filers.LookupEntry(t.Context(), dir, name)
	if err != nil {
		t.Fatal(err)
	}
	if e.Extended == nil {
		e.Extended = map[string][]byte{}
	}
	e.Extended[s3_constants.AmzServerSideEncryption] = []byte("aws:kms")
	for _, chunk := range e.Chunks {
		chunk.SseType = filer_pb.SSEType_SSE_KMS
	}
	err = filers.Do(t.Context(), func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		return filer_pb.UpdateEntry(ctx, client, &filer_pb.UpdateEntryRequest{Directory: dir, Entry: e})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSSERefused: tables of which an object is under SSE-C or SSE-KMS, and
// tables in buckets that ask for SSE-KMS, are refused by the scheme's name, and
// nothing of them is changed. Others go on.
func TestSSERefused(t *testing.T) {
	t.Parallel()
	c := startCluster(t, withKEK(cluster.Options{Separate: true, Buckets: []string{"lab", "kms"}}))
	filers := c.filers(t)
	tables := map[string]struct {
		path, scheme string
		// opens: the newest version can be read, and inspected.
		opens bool
	}{}
	add := func(name, bucket, scheme string, opens bool) string {
		path := c.manyAppends(t, bucket, "ml", name)
		tables[name] = struct {
			path, scheme string
			opens        bool
		}{path, scheme, opens}
		return path
	}
	c.manyAppends(t, "lab", "ml", "open")
	path := add("client", "lab", "SSE-C", false)
	c.putUnderSSEC(t, path+"/_versions/"+newestName(t, c, path))
	path = add("clientdata", "lab", "SSE-C", true)
	for _, name := range c.list(t, path+"/data") {
		c.putUnderSSEC(t, name)
	}
	path = add("managed", "lab", "SSE-KMS", false)
	markKMS(t, filers, "/buckets/"+path+"/_versions", newestName(t, c, path))
	add("asked", "kms", "SSE-KMS", false)
	c.encryptBucket(t, "kms", "aws:kms")

	before := map[string]map[string]string{}
	for name, v := range tables {
		before[name] = c.entries(t, filers, v.path)
	}
	worker, err := c.StartWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := c.detected(t, compactJob)
	if !strings.Contains(found, "open") || strings.Contains(found, "managed") || strings.Contains(found, "asked") || strings.Contains(found, "client ") {
		t.Errorf("proposed %q, want the plain table", found)
	}
	m := scrape(t, worker)
	looks := m.value("detections_total", "job_type", compactJob)
	if n := m.value("objects_skipped_total", "job_type", compactJob, "reason", "refused"); looks == 0 || n < 3*looks-2 {
		t.Errorf("%v were refused in %v looks", n, looks)
	}
	if n := m.value("objects_skipped_total", "job_type", compactJob, "reason", "keys"); n != 0 {
		t.Errorf("%v were skipped for want of a key", n)
	}
	if a := c.activities(t, compactJob); !strings.Contains(a, "SSE-C") || !strings.Contains(a, "SSE-KMS") {
		t.Errorf("admin does not name the schemes: %s", a)
	}
	for name, v := range tables {
		for _, args := range [][]string{{"inspect"}, {"compact"}, {"cleanup-versions", "-retain_hours=0", "-min_versions_to_keep=1"}, {"head"}} {
			out := c.weed(t, append([]string{"lance", args[0], v.path, "-filer=" + c.Filer()}, args[1:]...)...)
			if v.opens && (args[0] == "inspect" || args[0] == "cleanup-versions") {
				continue
			}
			if out.status != 3 || !strings.Contains(out.stderr, v.scheme) {
				t.Errorf("%s of %s: status %d, want 3 and %s: %s", args[0], name, out.status, v.scheme, out.stderr)
			}
		}
		if v.opens {
			continue
		}
		if after := c.entries(t, filers, v.path); !maps.Equal(before[name], after) {
			t.Errorf("%s was changed:\n%v\n%v", name, before[name], after)
		}
	}
}
