package e2e

import (
	"bytes"
	"crypto/md5"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

func quoted(sum []byte) string { return fmt.Sprintf("\"%x\"", sum) }

// sizes are below, at and above those at which chunks begin.
var sizes = []int{0, 1, 1000, 300 << 10, 4 << 20, 4<<20 + 1, 9<<20 + 12345}

// readsThroughS3: what the store writes is to S3 as if it had been PUT.
func (c *testCluster) readsThroughS3(t *testing.T, s objects.Store) {
	for _, size := range sizes {
		for _, text := range []bool{false, true} {
			want := content(size, text)
			name := fmt.Sprintf("_indices/%d-%v.json", size, text)
			w, err := s.Create(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(want); err != nil {
				t.Fatal(err)
			}
			made, err := w.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.S3().Get(t.Context(), s.String()+"/"+name)
			if err != nil {
				t.Fatal(err)
			}
			sum := md5.Sum(want)
			if etag := got.Header.Get("ETag"); !bytes.Equal(got.Body, want) || etag != quoted(sum[:]) || got.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %d bytes with ETag %s and %v, want %d with %x", name, len(got.Body), etag, got.Header, size, sum)
			}
			if tag := filerstore.ETag(made.Token); tag != fmt.Sprintf("%x", sum) {
				t.Errorf("%s: token %s", name, made.Token)
			}
			if size > 1000 {
				part, err := c.S3().Do(t.Context(), http.MethodGet, s.String()+"/"+name, http.Header{"Range": {fmt.Sprintf("bytes=%d-", size-1000)}}, nil)
				if err != nil || !bytes.Equal(part.Body, want[size-1000:]) {
					t.Errorf("%s: the last 1000 bytes differ (%v)", name, err)
				}
			}
			head, err := c.S3().Do(t.Context(), http.MethodHead, s.String()+"/"+name, nil, nil)
			if err != nil || head.Header.Get("ETag") != quoted(sum[:]) || head.Header.Get("Content-Length") != fmt.Sprint(size) {
				t.Errorf("%s: HEAD %v, %v", name, head.Header, err)
			}
		}
	}
	// The listing that Lance cleans up by says the same.
	listed, err := c.S3().Get(t.Context(), "lab?list-type=2&prefix=ml%2Fours%2F")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Contents []struct{ Key, ETag string }
	}
	if err := xml.Unmarshal(listed.Body, &list); err != nil || len(list.Contents) != 2*len(sizes) {
		t.Fatalf("listing of %d objects, %v", len(list.Contents), err)
	}
	for _, o := range list.Contents {
		_, e, err := objects.ReadAll(t.Context(), s, strings.TrimPrefix(o.Key, "ml/ours/"), 1<<30)
		if err != nil || `"`+filerstore.ETag(e.Token)+`"` != o.ETag {
			t.Errorf("%s: listed with ETag %s, opened with %s, %v", o.Key, o.ETag, e.Token, err)
		}
	}
	if err := s.Delete(t.Context(), "_indices/1000-true.json"); err != nil {
		t.Fatal(err)
	}
	var status *cluster.StatusError
	if _, err := c.S3().Get(t.Context(), s.String()+"/_indices/1000-true.json"); !errors.As(err, &status) || status.Status != http.StatusNotFound {
		t.Errorf("after Delete: %v", err)
	}
}

// readsFromS3: what was PUT, at once or in parts, reads back with S3's own ETag.
func (c *testCluster) readsFromS3(t *testing.T, s objects.Store) {
	check := func(name, etag string, want []byte) {
		t.Helper()
		got, e, err := objects.ReadAll(t.Context(), s, name, 1<<30)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
		if `"`+filerstore.ETag(e.Token)+`"` != etag {
			t.Errorf("%s: token %s, S3 says %s", name, e.Token, etag)
		}
		dir, base := filepath.Split(name)
		listed, err := s.List(t.Context(), strings.TrimSuffix(dir, "/"), base, 1)
		if err != nil || len(listed) != 1 || listed[0].Token != e.Token || listed[0].Size != e.Size || !listed[0].ModTime.Equal(e.ModTime) {
			t.Errorf("%s: listed as %+v, opened as %+v, %v", name, listed, e, err)
		}
	}
	for _, size := range sizes {
		for _, text := range []bool{false, true} {
			for _, kind := range []string{"application/octet-stream", "application/json", "text/plain"} {
				want := content(size, text)
				name := fmt.Sprintf("_indices/%d-%v-%s", size, text, strings.ReplaceAll(kind, "/", "."))
				a, err := c.S3().Do(t.Context(), http.MethodPut, s.String()+"/"+name, http.Header{"Content-Type": {kind}}, want)
				if err != nil {
					t.Fatal(err)
				}
				check(name, a.Header.Get("ETag"), want)
			}
		}
	}
	parts := [][]byte{content(6<<20, false), content(5<<20+7, true), content(10, false)}
	check("_indices/parts", c.putParts(t, s.String()+"/_indices/parts", parts), bytes.Join(parts, nil))
	// Random access into what came in parts.
	r, err := s.Open(t.Context(), "_indices/parts")
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Join(parts, nil)
	for _, off := range []int{0, 6<<20 - 10, 6 << 20, 8<<20 - 1, len(want) - 20} {
		p := make([]byte, 20)
		if err := r.ReadAt(t.Context(), p, int64(off)); err != nil || !bytes.Equal(p, want[off:off+20]) {
			t.Errorf("20 bytes at %d: %v", off, err)
		}
	}
}

// putParts uploads an object in parts and returns its ETag.
func (c *testCluster) putParts(t *testing.T, path string, parts [][]byte) string {
	t.Helper()
	a, err := c.S3().Do(t.Context(), http.MethodPost, path+"?uploads=", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var begun struct{ UploadId string }
	if err := xml.Unmarshal(a.Body, &begun); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	body.WriteString("<CompleteMultipartUpload>")
	for i, p := range parts {
		a, err := c.S3().Do(t.Context(), http.MethodPut, fmt.Sprintf("%s?partNumber=%d&uploadId=%s", path, i+1, begun.UploadId), nil, p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&body, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>", i+1, a.Header.Get("ETag"))
	}
	body.WriteString("</CompleteMultipartUpload>")
	if _, err = c.S3().Do(t.Context(), http.MethodPost, path+"?uploadId="+begun.UploadId, nil, []byte(body.String())); err != nil {
		t.Fatal(err)
	}
	head, err := c.S3().Do(t.Context(), http.MethodHead, path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return head.Header.Get("ETag")
}

// racesS3: of writers through S3 and of ours that want one name, one gets it,
// and every other is told so.
func (c *testCluster) racesS3(t *testing.T, s objects.Store) {
	for round := range 10 {
		name := fmt.Sprintf("_versions/%d.manifest", round)
		const writers = 6
		errs := make([]error, writers)
		var racing sync.WaitGroup
		start := make(chan struct{})
		for i := range writers {
			racing.Go(func() {
				<-start
				mine := content(100+i, false)
				if i%2 == 0 {
					errs[i] = s.Publish(t.Context(), name, mine)
					return
				}
				_, errs[i] = c.S3().Do(t.Context(), http.MethodPut, s.String()+"/"+name, http.Header{"If-None-Match": {"*"}}, mine)
			})
		}
		close(start)
		racing.Wait()
		winner := -1
		for i, err := range errs {
			var status *cluster.StatusError
			switch {
			case err == nil && winner >= 0:
				t.Errorf("round %d: %d and %d both won", round, winner, i)
			case err == nil:
				winner = i
			case errors.Is(err, objects.ErrExists):
			case errors.As(err, &status) && (status.Status == http.StatusPreconditionFailed || status.Status == http.StatusConflict):
			default:
				t.Errorf("round %d: %d got %v", round, i, err)
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody won", round)
		}
		got, _, err := objects.ReadAll(t.Context(), s, name, 1000)
		if err != nil || !bytes.Equal(got, content(100+winner, false)) {
			t.Errorf("round %d: the winner's bytes are not there: %v", round, err)
		}
	}
}
