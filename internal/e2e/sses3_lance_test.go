package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// createSealed makes a table bucket whose record asks for SSE-S3 from the
// beginning.
func (c *testCluster) createSealed(t *testing.T, bucket string) {
	t.Helper()
	body := fmt.Sprintf(`{"name":%q,"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":"AES256"}}`, bucket)
	h := http.Header{"X-Amz-Target": {"S3Tables.CreateTableBucket"}, "Content-Type": {"application/x-amz-json-1.1"}}
	if _, err := c.S3().Do(t.Context(), http.MethodPost, "", h, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

// TestSSES3Lance: a table that Lance writes through the gateway into a bucket
// that encrypts is proposed, compacted and cleaned, and Lance goes on with it,
// wherever the key comes from and whatever says that the bucket encrypts.
func TestSSES3Lance(t *testing.T) {
	t.Parallel()
	byHeader := func(t *testing.T, c *testCluster) { c.encryptBucket(t, "lab", "AES256") }
	for name, v := range map[string]struct {
		o    cluster.Options
		seal func(*testing.T, *testCluster)
	}{
		"mini":           {cluster.Options{Buckets: []string{"lab"}}, byHeader},
		"mini by record": {cluster.Options{}, func(t *testing.T, c *testCluster) { c.createSealed(t, "lab") }},
		"kek":            {withKEK(cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}}), byHeader},
		"key":            {cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}, Security: "[s3.sse]\nkey = \"some words\"\n"}, byHeader},
		"kek and cipher": {withKeys(withEncryption(withKEK(cluster.Options{Separate: true, Workers: 1}))), func(t *testing.T, c *testCluster) { c.createSealed(t, "lab") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, v.o)
			v.seal(t, c)
			c.sealedForLance(t)
		})
	}
}

// TestSSES3FilerKey: the same with the key on the filer, under a passphrase, as
// old clusters have it. The gateway writes the file anew when it starts.
func TestSSES3FilerKey(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../objects/filerstore/sses3/testdata/weed.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Wrapped    string `json:"kek_wrapped_v1"`
		Passphrase string `json:"kek_passphrase"`
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, cluster.Options{Separate: true, Env: []string{"WEED_S3_SSE_KEK_PASSPHRASE=" + golden.Passphrase}})
	c.putKeyFile(t, golden.Wrapped)
	// A gateway reads it when it starts, and only then.
	c.again(t, func(o *cluster.Options) {
		o.Workers, o.Buckets, o.WaitForJobs = 1, []string{"lab"}, []string{compactJob, cleanupJob}
	})
	c.encryptBucket(t, "lab", "AES256")
	c.sealedForLance(t)
	e, err := c.filers(t).LookupEntry(t.Context(), "/etc/s3", "sse_kek")
	if err != nil || string(e.GetContent()) == golden.Wrapped {
		t.Errorf("the gateway left the old file: %v", err)
	}
}

// again starts the cluster anew on its own data, with other options.
func (c *testCluster) again(t *testing.T, change func(*cluster.Options)) {
	t.Helper()
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	change(&c.options)
	next, err := cluster.Start(t.Context(), c.options)
	if err != nil {
		t.Fatalf("starting the cluster again: %v", err)
	}
	c.Cluster = next
	t.Cleanup(func() {
		if err := next.Stop(); err != nil {
			t.Errorf("stopping the cluster: %v", err)
		}
		if t.Failed() {
			t.Log(next.LogTails())
		}
	})
	// To the new master, its predecessor's state is lost.
	shell := c.Command("shell", "-master="+c.Master(), "-filer="+c.Filer())
	shell.Stdin = strings.NewReader("lock\nvolume.growth.resume\nunlock\n")
	if out := runCommand(t, shell); out.status != 0 {
		t.Fatalf("weed shell: status %d: %s%s", out.status, out.stdout, out.stderr)
	}
}

// sealedForLance is maintainForLance, and a look at what is left from all sides.
func (c *testCluster) sealedForLance(t *testing.T) {
	maintainForLance(t, c)
	const path = "lab/ml/written"
	names := c.list(t, path)
	manifests := 0
	for _, name := range names {
		got, err := c.S3().Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		// The catalog's own mark has no content.
		if h := got.Header.Get("X-Amz-Server-Side-Encryption"); h != "AES256" && len(got.Body) > 0 {
			t.Errorf("%s is under %q", name, h)
		}
		if strings.HasSuffix(name, ".manifest") || strings.HasSuffix(name, ".lance") {
			manifests++
			if !bytes.HasSuffix(got.Body, []byte("LANC")) {
				t.Errorf("%s ends with %q", name, got.Body[max(0, len(got.Body)-4):])
			}
		}
	}
	if manifests < 5 {
		t.Errorf("only %d manifests and data files among %q", manifests, names)
	}
	c.bothDoors(t, path)
	if n := c.volumesWith(t, "lab", []byte("LANC")); n != 0 {
		t.Errorf("%d volumes hold the magic of Lance's files in the clear", n)
	}
	if strings.Contains(c.options.Security, kek) {
		c.sameBytes(t, names)
	}
}
