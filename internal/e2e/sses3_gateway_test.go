package e2e

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"net/http"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// gatewayReads: what the store writes, in one go or in a stream of several
// chunks, the gateway serves with its ETag and the header of its encryption,
// whole and in ranges, and copies.
func (c *testCluster) gatewayReads(t *testing.T, s objects.Store, algorithm string) {
	t.Helper()
	for _, size := range []int{0, 1, 16, 1000, 4 << 20, 4<<20 + 1, 13<<20 + 77} {
		want := content(size, false)
		published, streamed := fmt.Sprintf("_versions/%d", size), fmt.Sprintf("data/%d", size)
		if err := s.Publish(t.Context(), published, want); err != nil {
			t.Fatal(err)
		}
		w, err := s.Create(t.Context(), streamed)
		if err != nil {
			t.Fatal(err)
		}
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1<<20+13)
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if _, err := w.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{published, streamed} {
			c.gatewayReadsOne(t, s.String()+"/"+name, want, algorithm)
		}
		copied := s.String() + "/data/copy-" + fmt.Sprint(size)
		if _, err := c.S3().Do(t.Context(), http.MethodPut, copied, http.Header{"X-Amz-Copy-Source": {"/" + s.String() + "/" + streamed}}, nil); err != nil {
			t.Errorf("copying %s: %v", streamed, err)
			continue
		}
		if got, _, err := objects.ReadAll(t.Context(), s, "data/copy-"+fmt.Sprint(size), 1<<30); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes (%v), want %d", copied, len(got), err, size)
		}
	}
}

// gatewayReadsOne compares an object with what it should be to S3.
func (c *testCluster) gatewayReadsOne(t *testing.T, path string, want []byte, algorithm string) {
	t.Helper()
	sum := md5.Sum(want)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		got, err := c.S3().Do(t.Context(), method, path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if h := got.Header; h.Get("X-Amz-Server-Side-Encryption") != algorithm || h.Get("ETag") != quoted(sum[:]) || h.Get("Content-Length") != fmt.Sprint(len(want)) {
			t.Errorf("%s %s: %v, want %d bytes under %q", method, path, h, len(want), algorithm)
		}
		if method == http.MethodGet && !bytes.Equal(got.Body, want) {
			t.Errorf("%s: %d bytes differ from the %d that were written", path, len(got.Body), len(want))
		}
	}
	const chunk = 4 << 20
	for _, from := range []int{0, 1, 15, 16, 17, chunk - 1, chunk, chunk + 5, 2*chunk - 7, 3 * chunk, len(want) - 3} {
		for _, n := range []int{1, 16, 33, 100_000, chunk + 3} {
			to := min(from+n, len(want))
			if from < 0 || from >= len(want) {
				continue
			}
			got, err := c.S3().Do(t.Context(), http.MethodGet, path, http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, from+n-1)}}, nil)
			if err != nil || got.Status != http.StatusPartialContent || !bytes.Equal(got.Body, want[from:to]) {
				t.Errorf("%s: %d bytes at %d of %d differ (%v)", path, n, from, len(want), err)
			}
			if h := got.Header.Get("X-Amz-Server-Side-Encryption"); h != algorithm {
				t.Errorf("%s: %d bytes at %d under %q", path, n, from, h)
			}
		}
	}
}
