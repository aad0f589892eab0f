package e2e

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// another is a key that is not the clusters'.
var another = strings.Repeat("ab", 32)

// secure overwrites the security configuration that processes find from now on.
func (c *testCluster) secure(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.ConfigDir(), "security.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// putKeyFile stores the filers' key, in whatever form.
func (c *testCluster) putKeyFile(t *testing.T, text string) {
	t.Helper()
	err := c.filers(t).Do(t.Context(), func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		return filer_pb.CreateEntry(ctx, client, &filer_pb.CreateEntryRequest{Directory: "/etc/s3", Entry: &filer_pb.Entry{
			Name: "sse_kek", Content: []byte(text),
			Attributes: &filer_pb.FuseAttributes{FileMode: 0o600, FileSize: uint64(len(text))},
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// entries are all entries below a table's directory as the filer has them, and
// the bytes of all objects through S3.
func (c *testCluster) entries(t *testing.T, filers *filerstore.Cluster, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var walk func(dir string)
	walk = func(dir string) {
		page, err := filers.ListEntries(t.Context(), dir, "", 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			name := dir + "/" + e.GetName()
			if e.GetIsDirectory() {
				// One may be there without anything in it.
				walk(name)
				continue
			}
			full, err := filers.LookupEntry(t.Context(), dir, e.GetName())
			if err != nil {
				t.Fatal(err)
			}
			raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(full)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.S3().Get(t.Context(), strings.TrimPrefix(name, "/buckets/"))
			var status *cluster.StatusError
			if err != nil && !errors.As(err, &status) {
				t.Fatal(err)
			}
			out[name] = fmt.Sprintf("entry %x, status %d", sha256.Sum256(raw), got.Status)
			if err == nil {
				out[name] += fmt.Sprintf(", content %x", sha256.Sum256(got.Body))
			}
		}
	}
	walk("/buckets/" + path)
	return out
}

// activities is what admin keeps of a job type's activities.
func (c *testCluster) activities(t *testing.T, jobType string) string {
	t.Helper()
	status, body, err := cluster.Get(t.Context(), "http://"+c.AdminAddress()+"/api/plugin/activities?job_type="+url.QueryEscape(jobType))
	if err != nil || status != http.StatusOK {
		t.Fatalf("activities: status %d, %v", status, err)
	}
	return body
}

// detected has a worker look for work, and returns of which tables there is some.
func (c *testCluster) detected(t *testing.T, jobType string) string {
	t.Helper()
	var names []string
	eventually(t, "a detection", func(ctx context.Context) error {
		found, err := c.Admin().Detect(ctx, jobType, 0)
		if err == nil {
			names = nil
			for _, p := range found.Proposals {
				names = append(names, p.Summary)
			}
		}
		return err
	})
	return strings.Join(names, "\n")
}

// newestName is that of the newest manifest, which lists first.
func newestName(t *testing.T, c *testCluster, path string) string {
	t.Helper()
	names := c.list(t, path+"/_versions")
	if len(names) == 0 {
		t.Fatalf("no versions in %s", path)
	}
	return filepath.Base(names[0])
}
