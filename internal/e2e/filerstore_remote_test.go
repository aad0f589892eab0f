package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// TestFilerStoreRemote: an object that is in a mounted remote storage alone is
// fetched into the cluster when it is opened. The remote storage is the
// cluster's own S3 gateway.
func TestFilerStoreRemote(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{WaitForJobs: []string{}, Flags: []string{"-volume.allowUntrustedRemoteEndpoints", "-filer.allowUntrustedRemoteEndpoints"}})
	if _, err := c.S3().Do(t.Context(), http.MethodPut, "faraway", nil, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"data/small.lance": content(100, true), "data/large.lance": content(9<<20, false)}
	etags := map[string]string{}
	for name, p := range want {
		a, err := c.S3().Do(t.Context(), http.MethodPut, "faraway/"+name, nil, p)
		if err != nil {
			t.Fatal(err)
		}
		etags[name] = a.Header.Get("ETag")
	}
	shell := c.Command("shell", "-master="+c.Master(), "-filer="+c.Filer())
	shell.Stdin = strings.NewReader(fmt.Sprintf(`lock
remote.configure -name=self -type=s3 -s3.endpoint=%s -s3.access_key=%s -s3.secret_key=%s -s3.region=%s -s3.force_path_style=true
remote.mount -dir=/buckets/near -remote=self/faraway
unlock
`, c.S3().Endpoint, cluster.AccessKey, cluster.SecretKey, cluster.Region))
	out := runCommand(t, shell)
	filers := c.filers(t)
	s := filers.Table("/buckets/near")
	for name, p := range want {
		dir, base, _ := strings.Cut(name, "/")
		e, err := filers.LookupEntry(t.Context(), "/buckets/near/"+dir, base)
		if err != nil || !e.IsInRemoteOnly() {
			t.Fatalf("%s is not in the remote storage alone: %v, %v\n%s%s", name, e, err, out.stdout, out.stderr)
		}
		listed, err := s.List(t.Context(), dir, base, 1)
		if err != nil || len(listed) != 1 || listed[0].Size != int64(len(p)) || `"`+filerstore.ETag(listed[0].Token)+`"` != etags[name] {
			t.Errorf("%s: listed as %+v, %v; S3 says %s", name, listed, err, etags[name])
		}
		got, _, err := objects.ReadAll(t.Context(), s, name, 1<<30)
		if err != nil || !bytes.Equal(got, p) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}
