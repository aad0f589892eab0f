package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// TestSSES3Keys: with no key, with another than the gateway's, and with two
// that contradict, tables that need it are skipped under a reason of their own,
// nothing of them is changed by a job or by hand, and other tables go on.
func TestSSES3Keys(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]struct {
		// security is what the worker is told, says is in its reason.
		security, says string
	}{
		"none":    {"", "none is configured"},
		"another": {fmt.Sprintf("[s3.sse]\nkek = %q\n", another), "KEK of this process"},
		"derived": {"[s3.sse]\nkey = \"some words\"\n", "KEK of this process"},
		"two":     {fmt.Sprintf("[s3.sse]\nkek = %q\nkey = \"some words\"\n", kek), "only one of"},
		"no key":  {"[s3.sse]\nkek = \"secret\"\n", "not in hex"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, withKEK(cluster.Options{Separate: true, Buckets: []string{"lab", "plain", "once"}}))
			lance := startLance(t)
			// Its first versions are from before its bucket encrypted.
			early := c.manyAppends(t, "lab", "ml", "early")
			c.encryptBucket(t, "lab", "AES256")
			sealed := c.manyAppends(t, "lab", "ml", "sealed")
			// Its bucket does not encrypt any more; all but its newest version is encrypted.
			c.encryptBucket(t, "once", "AES256")
			once, uri, made := c.lanceTable(t, lance, "many_appends", oracle.Table{Fragments: 12, Rows: 20}, "once", "ml", "once")
			if _, err := c.S3().Do(t.Context(), http.MethodDelete, "once?encryption=", nil, nil); err != nil {
				t.Fatal(err)
			}
			lance.Do(t, "append", oracle.Args{"uri": uri, "start": made.Next, "n": 20, "storage_options": c.storage()}, nil)
			c.manyAppends(t, "plain", "ml", "open")

			filers := c.filers(t)
			tables := map[string]string{"early": early, "sealed": sealed, "once": once}
			before := map[string]map[string]string{}
			for _, path := range tables {
				before[path] = c.entries(t, filers, path)
			}
			c.secure(t, v.security)
			worker, err := c.StartWorker(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Admin().Configure(t.Context(), cleanupJob, map[string]int64{"retain_hours": 0, "min_versions_to_keep": 1}); err != nil {
				t.Fatal(err)
			}
			for _, job := range []string{compactJob, cleanupJob} {
				found := c.detected(t, job)
				if !strings.Contains(found, "open") || strings.Contains(found, "early") || strings.Contains(found, "sealed") || strings.Contains(found, "once") {
					t.Errorf("%s proposed %q, want the plain table", job, found)
				}
				// Three tables, as often as has been looked.
				m := scrape(t, worker)
				looks := m.value("detections_total", "job_type", job)
				if n := m.value("objects_skipped_total", "job_type", job, "reason", "keys"); looks == 0 || n < 3 {
					t.Errorf("%s: skipped %v for want of the key in %v looks, want 3 each", job, n, looks)
				}
				for _, other := range []string{"open", "stats", "corrupt", "refused", "denied"} {
					if n := m.value("objects_skipped_total", "job_type", job, "reason", other); n != 0 {
						t.Errorf("%s: skipped %v as %s", job, n, other)
					}
				}
				if a := c.activities(t, job); !strings.Contains(a, "keys: ") || !strings.Contains(a, v.says) {
					t.Errorf("%s: admin does not tell of the key (%q): %s", job, v.says, a)
				}
				if run := c.runJob(t, job); run.Succeeded != 1 {
					t.Errorf("%s: %+v, want the plain table's", job, *run)
				}
			}
			for name, path := range tables {
				for _, args := range [][]string{{"compact"}, {"cleanup-versions", "-retain_hours=0", "-min_versions_to_keep=1"}} {
					out := c.weed(t, append([]string{"lance", args[0], path, "-filer=" + c.Filer()}, args[1:]...)...)
					if out.status != 3 || !strings.Contains(out.stderr, "SSE-S3 key") || !strings.Contains(out.stderr, v.says) {
						t.Errorf("%s of %s: status %d, want 3: %s", args[0], name, out.status, out.stderr)
					}
				}
				if after := c.entries(t, filers, path); !maps.Equal(before[path], after) {
					t.Errorf("%s was changed: %d objects, then %d\n%v\n%v", name, len(before[path]), len(after), before[path], after)
				}
			}
			// And with the right key all three go on.
			c.secure(t, c.options.Security)
			for name, path := range tables {
				if out := c.weed(t, "lance", "compact", path, "-filer="+c.Filer()); out.status != 0 {
					t.Errorf("compacting %s with the key: status %d: %s", name, out.status, out.stderr)
				}
			}
		})
	}
}

// TestSSES3KeyNotShown: as long as nothing shows that the key of the
// configuration is the gateway's, a plain table in a bucket that encrypts is left
// alone; what the gateway writes next shows it.
func TestSSES3KeyNotShown(t *testing.T) {
	t.Parallel()
	c := startCluster(t, withKEK(cluster.Options{Separate: true, Buckets: []string{"lab"}}))
	path := c.manyAppends(t, "lab", "ml", "early")
	c.encryptBucket(t, "lab", "AES256")
	filers := c.filers(t)
	before := c.entries(t, filers, path)
	for _, key := range []string{kek, another} {
		c.secure(t, fmt.Sprintf("[s3.sse]\nkek = %q\n", key))
		// It can be read all the same, without a lease.
		for _, subcommand := range []string{"inspect", "head"} {
			if out := c.weed(t, "lance", subcommand, path, "-filer="+c.Filer()); out.status != 0 {
				t.Errorf("%s: status %d: %s", subcommand, out.status, out.stderr)
			}
		}
		for _, args := range [][]string{{"compact"}, {"cleanup-versions", "-retain_hours=0", "-min_versions_to_keep=1"}} {
			out := c.weed(t, append([]string{"lance", args[0], path, "-filer=" + c.Filer()}, args[1:]...)...)
			if out.status != 3 || !strings.Contains(out.stderr, "nothing in bucket lab is encrypted yet") {
				t.Errorf("%s: status %d, want 3: %s", args[0], out.status, out.stderr)
			}
		}
	}
	if after := c.entries(t, filers, path); !maps.Equal(before, after) {
		t.Errorf("it was changed:\n%v\n%v", before, after)
	}
	c.provesKey(t, "lab")
	if out := c.weed(t, "lance", "compact", path, "-filer="+c.Filer()); out.status != 3 || !strings.Contains(out.stderr, "KEK of this process") {
		t.Errorf("under another key: status %d, want 3: %s", out.status, out.stderr)
	}
	c.secure(t, c.options.Security)
	if out := c.weed(t, "lance", "compact", path, "-filer="+c.Filer()); out.status != 0 {
		t.Errorf("under the key: status %d: %s", out.status, out.stderr)
	}
	r := c.inspect(t, path)
	if r.Fragments != 1 {
		t.Errorf("%+v", r)
	}
}

// TestSSES3KeyComes: a key that is put on the filer is found by a worker that
// runs, within a minute; one of the configuration only by the next worker.
func TestSSES3KeyComes(t *testing.T) {
	t.Parallel()
	c := startCluster(t, withKEK(cluster.Options{Separate: true, Buckets: []string{"lab", "plain"}}))
	c.encryptBucket(t, "lab", "AES256")
	path := c.manyAppends(t, "lab", "ml", "sealed")
	c.manyAppends(t, "plain", "ml", "open")
	c.secure(t, "")
	if _, err := c.StartWorker(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.secure(t, c.options.Security)
	for range 2 {
		if found := c.detected(t, compactJob); !strings.Contains(found, "open") || strings.Contains(found, "sealed") {
			t.Fatalf("proposed %q without a key", found)
		}
	}
	c.secure(t, "")
	c.putKeyFile(t, kek)
	eventually(t, "the key to be found", func(ctx context.Context) error {
		found, err := c.Admin().Detect(ctx, compactJob, 0)
		if err == nil && len(found.Proposals) != 2 {
			err = fmt.Errorf("proposed %+v", found.Proposals)
		}
		return err
	})
	if run := c.runJob(t, compactJob); run.Succeeded != 2 {
		t.Errorf("%+v", *run)
	}
	newest := path + "/_versions/" + newestName(t, c, path)
	got, err := c.S3().Get(t.Context(), newest)
	if err != nil || got.Header.Get("X-Amz-Server-Side-Encryption") != "AES256" {
		t.Errorf("the new version: %v, %v", got.Header, err)
	}
	c.sameBytes(t, []string{newest})
}
