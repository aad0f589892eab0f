package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

// provesKey has the gateway encrypt something, which shows what its key is.
func (c *testCluster) provesKey(t *testing.T, bucket string) {
	t.Helper()
	if err := c.S3().Put(t.Context(), bucket+"/ml/first/_indices/first", []byte("first")); err != nil {
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
			c.provesKey(t, "lab")
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
					algorithm := "AES256"
					if strings.HasPrefix(at.String(), "plain/") {
						algorithm = ""
					}
					c.gatewayReads(t, at, algorithm)
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
