package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// encryptBucket sets the encryption that S3 applies to what is put into a bucket.
func (c *testCluster) encryptBucket(t *testing.T, bucket, algorithm string) {
	t.Helper()
	rule := fmt.Sprintf(`<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>%s</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>`, algorithm)
	if _, err := c.S3().Do(t.Context(), http.MethodPut, bucket+"?encryption=", nil, []byte(rule)); err != nil {
		t.Fatal(err)
	}
}

// declareEncryption has the record of a table bucket ask for SSE-S3, as if the
// bucket had been created so.
func declareEncryption(t *testing.T, filers *filerstore.Cluster, bucket string) {
	t.Helper()
	e, err := filers.LookupEntry(t.Context(), "/buckets", bucket)
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(e.Extended[s3tables.ExtendedKeyMetadata], &record); err != nil {
		t.Fatal(err)
	}
	record["encryptionConfiguration"] = map[string]string{"sseAlgorithm": "AES256"}
	if e.Extended[s3tables.ExtendedKeyMetadata], err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	err = filers.Do(t.Context(), func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		return filer_pb.UpdateEntry(ctx, client, &filer_pb.UpdateEntryRequest{Directory: "/buckets", Entry: e})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFilerStoreSSES3: in buckets that encrypt, S3 reads what the store writes
// and the other way round, with and without encrypted volumes.
func TestFilerStoreSSES3(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]cluster.Options{
		"plain volumes":     withKEK(cluster.Options{}),
		"encrypted volumes": withEncryption(withKEK(cluster.Options{})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Buckets, o.WaitForJobs = []string{"lab", "back", "declared", "plain"}, []string{}
			c := startCluster(t, o)
			c.encryptBucket(t, "lab", "AES256")
			c.encryptBucket(t, "back", "AES256")
			s := c.filers(t)
			ours := s.Table("/buckets/lab/ml/ours")
			t.Run("to S3", func(t *testing.T) { c.readsThroughS3(t, ours) })
			t.Run("from S3", func(t *testing.T) { c.readsFromS3(t, s.Table("/buckets/lab/ml/theirs")) })
			t.Run("chunk manifest", func(t *testing.T) { c.manifest(t, s) })
			t.Run("gives back", func(t *testing.T) { c.givesBack(t, s) })
			t.Run("against S3", func(t *testing.T) { c.racesS3(t, s.Table("/buckets/lab/ml/race")) })
			t.Run("header", func(t *testing.T) {
				declareEncryption(t, s, "declared")
				for _, at := range []objects.Store{ours, s.Table("/buckets/declared/ml/ours"), s.Table("/buckets/plain/ml/ours")} {
					want := content(5<<20, false)
					if err := at.Publish(t.Context(), "_versions/1", want); err != nil {
						t.Fatal(err)
					}
					got, err := c.S3().Get(t.Context(), at.String()+"/_versions/1")
					if err != nil {
						t.Fatal(err)
					}
					algorithm := "AES256"
					if strings.HasPrefix(at.String(), "plain/") {
						algorithm = ""
					}
					if h := got.Header.Get("X-Amz-Server-Side-Encryption"); h != algorithm || !bytes.Equal(got.Body, want) {
						t.Errorf("%s: %d bytes under %q, want %q", at, len(got.Body), h, algorithm)
					}
				}
			})
			t.Run("one object", func(t *testing.T) {
				if _, err := c.S3().Do(t.Context(), http.MethodPut, "plain/ml/x/_indices/secret", http.Header{"X-Amz-Server-Side-Encryption": {"AES256"}}, []byte("secret")); err != nil {
					t.Fatal(err)
				}
				if got, _, err := objects.ReadAll(t.Context(), s.Table("/buckets/plain/ml/x"), "_indices/secret", 100); err != nil || string(got) != "secret" {
					t.Errorf("%q, %v", got, err)
				}
			})
			t.Run("KMS", func(t *testing.T) {
				c.encryptBucket(t, "back", "aws:kms")
				at := c.filers(t).Table("/buckets/back/ml/x")
				if err := at.Publish(t.Context(), "new", nil); !errors.Is(err, filerstore.ErrEncrypted) || !strings.Contains(err.Error(), "SSE-KMS") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestSSES3Jobs: tables in buckets that encrypt are compacted and cleaned like
// any other, with the key in the configuration in either form.
func TestSSES3Jobs(t *testing.T) {
	for name, o := range map[string]cluster.Options{
		"kek and encrypted volumes": withEncryption(withKEK(cluster.Options{})),
		"key":                       {Security: "[s3.sse]\nkey = \"some words\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Separate, o.Workers, o.Buckets = true, 1, []string{"lab"}
			c := startCluster(t, o)
			c.encryptBucket(t, "lab", "AES256")
			maintain(t, c)
			c.maintainFromShell(t)
		})
	}
}

// TestSSES3Mini: a mini makes its key itself; its worker has it, and who comes
// from elsewhere without is told so. No plain text of the table is on the disk.
func TestSSES3Mini(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Buckets: []string{"lab", "plain"}, Graceful: true})
	c.encryptBucket(t, "lab", "AES256")
	table := c.manyAppends(t, "lab", "ml", "vectors")
	if run := c.runJob(t, compactJob); run.Succeeded != 1 {
		t.Fatalf("compaction: %+v, want one job", *run)
	}
	if run := c.runJob(t, compactJob); run.Detected != 0 {
		t.Errorf("a second compaction: %+v, want nothing proposed", *run)
	}
	if err := c.Admin().Configure(t.Context(), cleanupJob, map[string]int64{"retain_hours": 0, "min_versions_to_keep": 1}); err != nil {
		t.Fatal(err)
	}
	if run := c.runJob(t, cleanupJob); run.Succeeded != 1 {
		t.Fatalf("cleanup: %+v, want one job", *run)
	}
	for _, name := range c.list(t, table) {
		if !strings.HasSuffix(name, ".lance") && !strings.HasSuffix(name, ".manifest") {
			continue
		}
		got, err := c.S3().Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if h := got.Header.Get("X-Amz-Server-Side-Encryption"); h != "AES256" || !bytes.HasSuffix(got.Body, []byte("LANC")) {
			t.Errorf("%s: %d bytes under %q", name, len(got.Body), h)
		}
	}
	out := c.weed(t, "lance", "inspect", table, "-filer="+c.Filer())
	if out.status != 3 || !strings.Contains(out.stderr, "SSE-S3 key") {
		t.Errorf("without the key: status %d, %s", out.status, out.stderr)
	}
	if n := volumesWith(t, c.options.Dir, []byte("LANC")); n != 0 {
		t.Errorf("%d volumes hold the end of a Lance file in the clear", n)
	}
	if err := c.S3().Put(t.Context(), "plain/ml/x/_indices/x", []byte("a file that ends with LANC")); err != nil {
		t.Fatal(err)
	}
	if n := volumesWith(t, c.options.Dir, []byte("LANC")); n != 1 {
		t.Errorf("%d volumes hold what is stored in the clear, want one: the search finds nothing", n)
	}
}

// TestSSES3NoKey: without the key, tables in buckets that encrypt are skipped
// under a reason of their own, and the others are not.
func TestSSES3NoKey(t *testing.T) {
	t.Parallel()
	c := startCluster(t, withKEK(cluster.Options{Separate: true, Buckets: []string{"lab", "plain"}}))
	// Its first objects are from before.
	early := c.manyAppends(t, "lab", "ml", "early")
	c.encryptBucket(t, "lab", "AES256")
	c.manyAppends(t, "lab", "ml", "vectors")
	c.manyAppends(t, "plain", "ml", "vectors")
	if err := os.WriteFile(filepath.Join(c.ConfigDir(), "security.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	worker, err := c.StartWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a detection", func(ctx context.Context) error {
		found, err := c.Admin().Detect(ctx, compactJob, 0)
		if err == nil && len(found.Proposals) != 1 {
			t.Errorf("proposed %+v, want the plain table", found.Proposals)
		}
		return err
	})
	if n := scrape(t, worker).value("objects_skipped_total", "job_type", compactJob, "reason", "keys"); n != 2 {
		t.Errorf("skipped %v for want of the key, want 2", n)
	}
	for subcommand, want := range map[string]int{"inspect": 0, "compact": 3} {
		if out := c.weed(t, "lance", subcommand, early, "-filer="+c.Filer()); out.status != want || want != 0 && !strings.Contains(out.stderr, "SSE-S3 key") {
			t.Errorf("%s: status %d, want %d: %s", subcommand, out.status, want, out.stderr)
		}
	}
}

// volumesWith counts the volumes below a directory that hold some bytes.
func volumesWith(t *testing.T, dir string, what []byte) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".dat" {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, what) {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
