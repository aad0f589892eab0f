package e2e

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// A table with vectors, nested lists, nulls and strings, as Lance wrote it, and
// what admin's pages have to show of it.
const (
	typesFixture = "../../testdata/types_22"
	typesPage    = "/object-store/s3tables/buckets/lab/namespaces/ml/tables/types"
)

// showsTypes are the texts of the table's page; sampleOfTypes those of the page
// with its first rows.
var (
	showsTypes = []string{
		"rows 60 ", "fragments 3 ", "versions 3 ",
		`id "int64"`, `vec "fixed_size_list(float32, 128)"`, `lists "list(list(float32))"`, `struct "struct(a: int32, b: string)"`, `map "map(string, int32)"`,
	}
	sampleOfTypes = []string{
		"# id i8 u32 f16 f64 flag dec ts day text ", // the columns
		"1 0 0 0 ", "word 1", "… 128 values]", "[[1.5]]", `{"a": 4, "b": null}`, `{"k0": 2, "k1": 2}`, "2 bytes: 0202", "2024-01-01T00:00:49Z",
		"Showing 50 of 60 rows.", "read from the LANCE dataset by worker",
	}
)

// typesTable puts the table onto the cluster.
func (c *testCluster) typesTable(t *testing.T) string {
	t.Helper()
	table := c.makeTable(t, "lab", "ml", "types")
	c.upload(t, table, os.DirFS(typesFixture))
	return table
}

var (
	scripts = regexp.MustCompile(`(?s)<(script|style)\b.*?</(script|style)>`)
	tags    = regexp.MustCompile(`<[^>]*>`)
	spaces  = regexp.MustCompile(`\s+`)
)

// pageText is what a person reads of a page.
func pageText(page string) string {
	page = scripts.ReplaceAllString(page, " ")
	return spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(page, " ")), " ")
}

// missing is an error that names the texts that a page does not show.
func missing(text string, want []string) error {
	var missed []string
	for _, w := range want {
		if !strings.Contains(text, w) {
			missed = append(missed, w)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	const shown = 4 << 10
	return fmt.Errorf("not on the page: %q\n%.*s", missed, shown, text)
}

// pageShows waits until one of admin's pages shows all of the texts.
func (c *testCluster) pageShows(t *testing.T, page string, want ...string) {
	t.Helper()
	eventually(t, "the page "+page, func(ctx context.Context) error {
		status, body, err := cluster.Get(ctx, "http://"+c.AdminAddress()+page)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("status %d: %s", status, body)
		}
		return missing(pageText(body), want)
	})
}

// showTables has admin look for work, and looks at the pages that are filled by that.
func showTables(t *testing.T, c *testCluster) {
	t.Helper()
	c.typesTable(t)
	deep := c.makeTable(t, "lab", "ml", "deep", "small")
	c.upload(t, deep, os.DirFS("../../testdata/no_rows"))
	c.makeTable(t, "lab", "ml", "declared")
	for _, job := range []string{compactJob, cleanupJob} {
		if _, err := c.Admin().Detect(t.Context(), job, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.pageShows(t, typesPage, showsTypes...)
	c.pageShows(t, typesPage+"/data", sampleOfTypes...)
	c.pageShows(t, "/object-store/s3tables/buckets/lab/namespaces/ml/tables", "types", "60")
	c.pageShows(t, typesPage+"/data?limit=25", "Showing 25 of 60 rows.")
	c.pageShows(t, "/object-store/s3tables/buckets/lab/namespaces/ml.deep/tables/small", "rows 0 ", "fragments 0 ", "versions 1 ", `text "null"`)
	c.pageShows(t, "/object-store/s3tables/buckets/lab/namespaces/ml/tables/declared/data", "no worker has described this object")
}

func TestAdminPagesOfMini(t *testing.T) {
	t.Parallel()
	showTables(t, startCluster(t, cluster.Options{Buckets: []string{"lab"}, Graceful: true}))
}

// TestAdminPages: observations survive a restart of admin, which keeps them in
// memory only, and follow a job.
func TestAdminPages(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}})
	showTables(t, c)
	if err := c.AdminProcess.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := c.StartAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.pageShows(t, typesPage, showsTypes...)
	c.pageShows(t, typesPage+"/data", sampleOfTypes...)

	eventually(t, "the worker to be back", func(ctx context.Context) error {
		workers, err := c.Admin().Workers(ctx)
		if err == nil && len(workers) != 2 {
			err = fmt.Errorf("connected are %v", workers)
		}
		return err
	})
	if err := c.Admin().Configure(t.Context(), compactJob, map[string]int64{"min_fragments": 2}); err != nil {
		t.Fatal(err)
	}
	if run := c.runJob(t, compactJob); run.Succeeded != 1 {
		t.Fatalf("compaction: %+v, want one job", *run)
	}
	after := c.inspect(t, "lab/ml/types")
	c.pageShows(t, typesPage, "rows 60 ", "fragments 1 ", fmt.Sprintf("versions %d ", after.Versions))
	c.pageShows(t, typesPage+"/data", sampleOfTypes...)
	m := scrape(t, c.Workers[0])
	if got := m.value("previews_total", "result", "ok"); got < 3 {
		t.Errorf("%v previews were counted", got)
	}
	if got := m.value("previews_total", "result", "failed"); got != 0 {
		t.Errorf("%v previews failed", got)
	}
	if got := m.value("stream_events_total", "event", "connected"); got != 2 {
		t.Errorf("the stream was opened %v times, want 2", got)
	}
}

func TestAdminPagesSecured(t *testing.T) {
	for name, secure := range map[string]func(*testing.T, cluster.Options) cluster.Options{
		"keys and encryption": func(_ *testing.T, o cluster.Options) cluster.Options { return withKeys(withEncryption(o)) },
		"and TLS":             func(t *testing.T, o cluster.Options) cluster.Options { return withTLS(t, withKeys(withEncryption(o))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, secure(t, cluster.Options{Separate: true, Workers: 1, Buckets: []string{"lab"}}))
			showTables(t, c)
			c.headFromShell(t, "lab/ml/types")
		})
	}
}

// headFromShell reads a table on the cluster with `weed lance` and the same
// table in a directory, which must give the same.
func (c *testCluster) headFromShell(t *testing.T, table string) {
	t.Helper()
	for _, args := range [][]string{{"head", "-n=1000", "-json", "-full"}, {"head"}, {"schema", "-json"}, {"pages", "-json"}} {
		on := c.weed(t, append([]string{"lance", args[0], table, "-filer=" + c.Filer()}, args[1:]...)...)
		in := runCommand(t, weedCommand(t, nil, append([]string{"lance", args[0], absolute(t, typesFixture)}, args[1:]...)...))
		if on.status != 0 || in.status != 0 || on.stdout != in.stdout || len(on.stdout) < 100 {
			t.Errorf("%v: status %d and %d\n%s\n%s\n%s%s", args, on.status, in.status, on.stdout, in.stdout, on.stderr, in.stderr)
		}
	}
}
