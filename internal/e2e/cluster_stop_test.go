package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/journal"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
	"github.com/seaweedfs/seaweed-lance/lanceworker"
	"github.com/seaweedfs/seaweed-lance/testdata"
)

// TestWorkerStops tells a worker to end in the middle of a compaction: it
// removes what it had written, within the time that it is given.
func TestWorkerStops(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}})
	table := c.wideTable(t, 5000, "lab", "ml", "wide")
	before := c.list(t, table)

	ran := make(chan error, 1)
	go func() {
		_, err := c.Admin().Run(t.Context(), compactJob)
		ran <- err
	}()
	eventually(t, "the job to be at work", func(ctx context.Context) error {
		select {
		case err := <-ran:
			t.Fatalf("the job ended before it could be stopped: %v", err)
		default:
		}
		if slices.ContainsFunc(c.list(t, table), isJournal) {
			return nil
		}
		return errors.New("no journal yet")
	})
	if !slices.ContainsFunc(c.list(t, table), isLease) {
		t.Error("what the job reads is not pinned")
	}
	start := time.Now()
	if err := c.Workers[0].Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// Beyond its grace only what a process needs to end.
	limit := time.NewTimer(lanceworker.StopGrace + 5*time.Second)
	defer limit.Stop()
	select {
	case <-c.Workers[0].Done():
	case <-limit.C:
		t.Fatalf("the worker is still there after %v", time.Since(start))
	}
	c.Workers = nil // ended, as it was told to

	after := c.list(t, table)
	for _, name := range after {
		if !slices.Contains(before, name) && (isJournal(name) || isLease(name) || strings.Contains(name, "/data/")) {
			t.Errorf("left behind: %s", name)
		}
	}
	if r := c.inspect(t, table); r.Fragments != 5000 {
		t.Errorf("the table has %d fragments", r.Fragments)
	}
}

// TestShellStops presses Ctrl-C in the middle of a compaction.
func TestShellStops(t *testing.T) {
	t.Parallel()
	dir := wideDirectory(t, 20000)
	cmd := weedCommand(t, nil, "lance", "compact", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	journals := filepath.Join(dir, journal.Dir, "rewrite-*.json")
	eventually(t, "the compaction to be at work", func(context.Context) error {
		found, err := filepath.Glob(journals)
		if err == nil && len(found) == 0 {
			err = errors.New("no journal yet")
		}
		return err
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-ended
	if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("status %d, stderr %s; want status 1 and what happened", status, stderr.String())
	}
	if left, err := filepath.Glob(journals); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	data, err := os.ReadDir(filepath.Join(dir, table.DataDir))
	if err != nil || len(data) != 40 {
		t.Errorf("%d data files, want the 40 that were there (%v)", len(data), err)
	}
}

func isJournal(name string) bool { return strings.Contains(name, "/_maintenance/rewrite-") }

// wideTable makes a wide table on the cluster.
func (c *testCluster) wideTable(t *testing.T, fragments int, name ...string) string {
	t.Helper()
	to := c.makeTable(t, name...)
	c.upload(t, to, os.DirFS(wideDirectory(t, fragments)))
	return to
}

// wideDirectory makes a table whose fragments share the data files of one that
// Lance wrote, so that there is much to do for a job and little to keep.
func wideDirectory(t *testing.T, fragments int) string {
	t.Helper()
	dir := t.TempDir()
	files := testdata.ManyAppends()
	data, err := fs.Sub(files, table.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, table.DataDir), data); err != nil {
		t.Fatal(err)
	}
	name, m := newestManifest(t, files)
	some := m.GetFragments()
	for i := len(some); i < fragments; i++ {
		m.Fragments = append(m.Fragments, proto.Clone(some[i%len(some)]).(*pb.DataFragment))
	}
	for i, f := range m.GetFragments() {
		f.Id = uint64(i)
	}
	m.MaxFragmentId = proto.Uint32(uint32(fragments - 1))
	m.IndexSection, m.TransactionSection, m.TransactionSectionV13, m.TransactionFile = nil, nil, nil, ""
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(raw)))
	b = append(b, raw...)
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = append(b, 0, 0, 2, 0, 'L', 'A', 'N', 'C')
	if err := os.Mkdir(filepath.Join(dir, table.VersionsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newestManifest reads the newest version of a table with names of scheme V2.
func newestManifest(t *testing.T, files fs.FS) (string, *pb.Manifest) {
	t.Helper()
	names, err := fs.Glob(files, table.VersionsDir+"/*.manifest")
	if err != nil || len(names) == 0 {
		t.Fatalf("no manifest (%v)", err)
	}
	b, err := fs.ReadFile(files, slices.Min(names))
	if err != nil {
		t.Fatal(err)
	}
	pos := binary.LittleEndian.Uint64(b[len(b)-16:])
	n := uint64(binary.LittleEndian.Uint32(b[pos:]))
	m := new(pb.Manifest)
	if err := proto.Unmarshal(b[pos+4:pos+4+n], m); err != nil {
		t.Fatal(err)
	}
	return slices.Min(names), m
}

// list names all objects below a path, as S3 lists them.
func (c *testCluster) list(t *testing.T, at string) []string {
	t.Helper()
	bucket, prefix, _ := strings.Cut(at, "/")
	var names []string
	for token := ""; ; {
		query := url.Values{"list-type": {"2"}, "prefix": {prefix + "/"}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		answer, err := c.S3().Do(t.Context(), http.MethodGet, bucket+"?"+query.Encode(), nil, nil)
		if err != nil {
			t.Fatalf("listing %s: %v", at, err)
		}
		var page struct {
			Contents []struct{ Key string }
			Next     string `xml:"NextContinuationToken"`
		}
		if err := xml.Unmarshal(answer.Body, &page); err != nil {
			t.Fatalf("listing %s: %v", at, err)
		}
		for _, o := range page.Contents {
			names = append(names, bucket+"/"+o.Key)
		}
		if token = page.Next; token == "" {
			return names
		}
	}
}
