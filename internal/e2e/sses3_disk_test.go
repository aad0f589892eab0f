package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// volumesWith counts the volumes of a bucket that hold some bytes, as they are
// or compressed, which is how volume servers store what they take for text.
func (c *testCluster) volumesWith(t *testing.T, bucket string, what []byte) int {
	t.Helper()
	n := 0
	for _, data := range c.volumesOf(t, bucket) {
		if bytes.Contains(data, what) || bytes.Contains(inflated(data), what) {
			n++
		}
	}
	return n
}

// inflated is what all gzip streams within some bytes hold.
func inflated(data []byte) (out []byte) {
	for {
		i := bytes.Index(data, []byte{0x1f, 0x8b, 8})
		if i < 0 {
			return out
		}
		data = data[i+3:]
		r, err := gzip.NewReader(io.MultiReader(bytes.NewReader([]byte{0x1f, 0x8b, 8}), bytes.NewReader(data)))
		if err != nil {
			continue
		}
		r.Multistream(false)
		// As far as it is one.
		part, _ := io.ReadAll(r)
		out = append(out, part...)
	}
}

// volumesOf are the volumes of a bucket as they are on the disk, by name.
func (c *testCluster) volumesOf(t *testing.T, bucket string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.options.Dir, "*", bucket+"_*.dat"))
	if err == nil && len(files) == 0 {
		files, err = filepath.Glob(filepath.Join(c.options.Dir, bucket+"_*.dat"))
	}
	if err != nil {
		t.Fatal(err)
	}
	volumes := map[string][]byte{}
	total := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		volumes[filepath.Base(name)] = data
		total += len(data)
	}
	// A superblock alone has 8 bytes.
	if total < 10_000 {
		t.Fatalf("the volumes of %s below %s are %q with %d bytes", bucket, c.options.Dir, files, total)
	}
	return volumes
}

// plainText is what would be recognised of a table on a disk, by what it is in.
// Each text has 32 bytes or is of Lance's formats.
var plainText = map[string]string{
	"a value":                  "value-0123456789abcdefghijklmnop",
	"a field's name":           "field_0123456789abcdefghijklmnop",
	"the schema's metadata":    "scheme-0123456789abcdefghijklmno",
	"a field's metadata":       "ownmeta-0123456789abcdefghijklmn",
	"a delete's transaction":   "absent-0123456789abcdefghijklmno",
	"the table's config":       "config-0123456789abcdefghijklmno",
	"the end of Lance's files": "LANC",
	"a deletion file":          "ARROW1",
	"a tag":                    `"manifestSize"`,
	"a journal":                `"holder"`,
}

// writeMarked has Lance write a table through the gateway with all of plainText
// in it, and the shell maintain it through the filer.
func (c *testCluster) writeMarked(t *testing.T, lance *oracle.Lance, bucket string) {
	t.Helper()
	path := c.makeTable(t, bucket, "ml", "marked")
	lance.Do(t, "run", oracle.Args{
		"code": `
field = pa.field(name, pa.string(), metadata={"about": own})
schema = pa.schema([pa.field("id", pa.int64()), field], metadata={"about": about})
for i in range(12):
    ids = list(range(20 * i, 20 * i + 20))
    part = pa.table([pa.array(ids, pa.int64()), pa.array(["%s %d" % (value, n) for n in ids])], schema=schema)
    ds = lance.write_dataset(part, uri, mode="append" if i else "create", storage_options=storage_options)
ds.delete("id = 33 or %s = '%s'" % (name, absent))
ds = lance.dataset(uri, storage_options=storage_options)
ds.update_config({"about": config})
ds.tags.create("theirs", 3)
result = ds.count_rows()
`,
		"uri": "s3://" + path, "storage_options": c.storage(),
		"name": plainText["a field's name"], "own": plainText["a field's metadata"], "about": plainText["the schema's metadata"],
		"value": plainText["a value"], "absent": plainText["a delete's transaction"], "config": plainText["the table's config"],
	}, nil)
	key := c.miniKey(t)
	for _, args := range [][]string{
		{"compact", path, "-target_rows_per_fragment=60"},
		{"cleanup-versions", path, "-retain_hours=0", "-min_versions_to_keep=2"},
		{"compact", path},
		{"cleanup-versions", path, "-retain_hours=0", "-min_versions_to_keep=1"},
	} {
		cmd := c.Command(append([]string{"lance"}, append(args, "-filer="+c.Filer())...)...)
		cmd.Env = append(cmd.Env, key...)
		if out := runCommand(t, cmd); out.status != 0 {
			t.Fatalf("weed lance %v: status %d: %s", args, out.status, out.stderr)
		}
	}
	var rows int
	lance.Do(t, "run", oracle.Args{
		"code": "result = lance.dataset(uri, storage_options=storage_options).count_rows()", "uri": "s3://" + path, "storage_options": c.storage(),
	}, &rows)
	if rows != 239 {
		t.Errorf("%d rows are left in %s, want 239", rows, path)
	}
}

// TestSSES3Disk: of a table in a bucket that encrypts, no plain text is on the
// volume servers' disks: neither of what Lance wrote through the gateway nor of
// what this module did through the filer. In a bucket that does not encrypt, all
// of it is found, so that the search can fail.
func TestSSES3Disk(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]cluster.Options{
		"mini": {},
		"kek":  withKEK(cluster.Options{Separate: true}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Buckets, o.WaitForJobs = []string{"lab", "plain"}, []string{}
			c := startCluster(t, o)
			c.encryptBucket(t, "lab", "AES256")
			lance := startLance(t)
			for _, bucket := range []string{"lab", "plain"} {
				c.writeMarked(t, lance, bucket)
			}
			for _, what := range slices.Sorted(maps.Keys(plainText)) {
				if c.volumesWith(t, "lab", []byte(plainText[what])) > 0 {
					t.Errorf("%s is there in the clear: %q", what, plainText[what])
				}
				if c.volumesWith(t, "plain", []byte(plainText[what])) == 0 {
					t.Errorf("%s is not even found where nothing is encrypted: %q", what, plainText[what])
				}
			}
			// All of the bucket, and not only those texts: what is encrypted does not
			// compress.
			for name, data := range c.volumesOf(t, "lab") {
				if found := longRun(data); found != "" {
					t.Errorf("%s holds readable text: %q", name, found)
				}
			}
		})
	}
}

// readable is longer than what a needle says in the clear of itself: its type.
const readable = 40

// longRun is the first long run of letters, digits and punctuation, "" without one.
func longRun(data []byte) string {
	start := 0
	for i, b := range data {
		if b < 0x20 || b > 0x7e {
			start = i + 1
		} else if i-start == readable {
			return string(data[start:min(len(data), start+2*readable)])
		}
	}
	return ""
}

// TestLongRun: the search finds text and does not take noise for it.
func TestLongRun(t *testing.T) {
	text := strings.Repeat("a table's text ", 4)
	noise := content(1<<20, false)
	if got := longRun(noise); got != "" {
		t.Errorf("noise: %q", got)
	}
	if got := longRun(append(noise, "\x00"+text...)); !strings.HasPrefix(got, text[:readable]) {
		t.Errorf("text: %q", got)
	}
}
