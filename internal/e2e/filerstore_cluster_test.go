package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/security"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// filers connects to the cluster's filer as a worker does, with one more
// address at which nobody answers.
func (c *testCluster) filers(t *testing.T) *filerstore.Cluster {
	t.Helper()
	var dial grpc.DialOption
	if strings.Contains(c.options.Security, "[grpc.") {
		var err error
		if dial, err = security.LoadClientTLSFromFile(filepath.Join(c.ConfigDir(), "security.toml"), "grpc.worker"); err != nil {
			t.Fatal(err)
		}
	}
	s, err := filerstore.Connect(t.Context(), filerstore.Config{
		Filers:     []pb.ServerAddress{cluster.Host + ":1", pb.ServerAddress(c.Filer())},
		DialOption: dial,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestFilerStore holds the store to the contract on a real cluster, and its
// objects to what S3 makes of them: plain, and with all that secures a cluster.
func TestFilerStore(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]func() cluster.Options{
		"plain":   func() cluster.Options { return cluster.Options{} },
		"secured": func() cluster.Options { return withTLS(t, withEncryption(withKeys(cluster.Options{}))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options()
			o.Buckets, o.WaitForJobs = []string{"lab", "back"}, []string{}
			c := startCluster(t, o)
			s := c.filers(t)
			t.Run("contract", func(t *testing.T) {
				var n atomic.Int32
				storetest.Run(t, func(testing.TB) objects.Store {
					return s.Table(fmt.Sprintf("/buckets/lab/contract/t%d", n.Add(1)))
				})
			})
			t.Run("to S3", func(t *testing.T) { c.readsThroughS3(t, s.Table("/buckets/lab/ml/ours")) })
			t.Run("from S3", func(t *testing.T) { c.readsFromS3(t, s.Table("/buckets/lab/ml/theirs")) })
			t.Run("chunk manifest", func(t *testing.T) { c.manifest(t, s) })
			t.Run("gives back", func(t *testing.T) { c.givesBack(t, s) })
			t.Run("against S3", func(t *testing.T) { c.racesS3(t, s.Table("/buckets/lab/ml/race")) })
		})
	}
}

// content is n bytes; those of text compress well.
func content(n int, text bool) []byte {
	if text {
		return bytes.Repeat([]byte("manifest of many words, "), n/24+1)[:n]
	}
	p := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(p)
	return p
}

// manifest makes a file of so many small chunks that the filer folds them into
// a chunk manifest, and checks that the store reads it.
func (c *testCluster) manifest(t *testing.T, filers *filerstore.Cluster) {
	const dir = "/buckets/lab/ml/folded"
	s := filers.Table(dir)
	var want []byte
	var chunks []*filer_pb.FileChunk
	for i := range filer.SmallChunkManifestBatch + 3 {
		piece := content(500+i, false)
		want = append(want, piece...)
		if err := s.Publish(t.Context(), fmt.Sprintf("pieces/%d", i), piece); err != nil {
			t.Fatal(err)
		}
		e, err := filers.LookupEntry(t.Context(), dir+"/pieces", fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, e.GetChunks()...)
	}
	err := filers.Do(t.Context(), func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		_, err := client.AppendToEntry(ctx, &filer_pb.AppendToEntryRequest{Directory: dir, EntryName: "whole", Chunks: chunks})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := filers.LookupEntry(t.Context(), dir, "whole")
	if err != nil || !filer.HasChunkManifest(e.GetChunks()) {
		t.Fatalf("the filer did not fold %d chunks into %d, %v", len(chunks), len(e.GetChunks()), err)
	}
	got, o, err := objects.ReadAll(t.Context(), s, "whole", 1<<30)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
	}
	if listed, err := s.List(t.Context(), "", "whole", 1); err != nil || len(listed) != 1 || listed[0].Token != o.Token {
		t.Errorf("listed as %+v, opened as %+v, %v", listed, o, err)
	}
}

// givesBack: chunks of what is not made after all are removed from the volume
// servers.
func (c *testCluster) givesBack(t *testing.T, filers *filerstore.Cluster) {
	s := filers.Table("/buckets/back/ml/x")
	if err := s.Publish(t.Context(), "taken", []byte("x")); err != nil {
		t.Fatal(err)
	}
	before := c.needles(t, filers)
	begin := func(name string) objects.Writer {
		w, err := s.Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content(9<<20, false)); err != nil {
			t.Fatal(err)
		}
		return w
	}
	begin("aborted").Abort()
	if _, err := begin("taken").Finish(t.Context()); !errors.Is(err, objects.ErrExists) {
		t.Fatalf("got %v", err)
	}
	if err := s.Publish(t.Context(), "taken", content(1000, false)); !errors.Is(err, objects.ErrExists) {
		t.Fatalf("got %v", err)
	}
	if after := c.needles(t, filers); after != before {
		t.Errorf("%d needles, want %d as before", after, before)
	}
}

// needles counts what the volume server holds for the bucket that givesBack uses.
func (c *testCluster) needles(t *testing.T, filers *filerstore.Cluster) int {
	t.Helper()
	var server string
	err := filers.Do(t.Context(), func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		resp, err := client.AssignVolume(ctx, &filer_pb.AssignVolumeRequest{Count: 1, Path: "/buckets/back/x"})
		server = resp.GetLocation().GetUrl()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := cluster.Get(t.Context(), "http://"+server+"/status")
	if err != nil {
		t.Fatal(err)
	}
	var status struct {
		Volumes []struct {
			Collection             string
			FileCount, DeleteCount int
		}
	}
	if err := json.Unmarshal([]byte(body), &status); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range status.Volumes {
		if v.Collection == "back" {
			n += v.FileCount - v.DeleteCount
		}
	}
	if n == 0 {
		t.Fatalf("no needles of the bucket in %s", body)
	}
	return n
}
