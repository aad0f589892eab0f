package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// TestJudgeComplains does to a table what maintenance must not do, and expects
// the check to say so.
func TestJudgeComplains(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	const table = `
import os
m = maker.Maker(uri, seed=1)
m.schema = pa.schema([("id", pa.int64()), ("s", pa.string()), ("f", pa.float64()), ("l", pa.list_(pa.int32()))])
def part(a, s, f, l):
    return pa.table([pa.array([a, a + 1, a + 2]), pa.array(s, pa.string()), pa.array(f, pa.float64()),
                     pa.array(l, pa.list_(pa.int32()))], schema=m.schema)
m.write(part(0, ["a", "", None], [0.0, float("nan"), 1.5], [[1], [], None]))
m.write(part(3, ["b", "c", "d"], [2.0, 3.0, 4.0], [[1, None], [2, 3], [4]]))
m.ds.tags.create("kept", 1)
result = m.ds.version
`
	rewrite := func(change string) string {
		return `
t = judge.read(lance.dataset(uri))
` + change + `
lance.write_dataset(t, uri, mode="overwrite")
`
	}
	column := func(name, values string) string {
		return rewrite("i = t.column_names.index('" + name + "')\n" +
			"t = t.set_column(i, t.schema.field(i), pa.array(" + values + ", t.schema.field(i).type))")
	}
	cases := []struct{ name, code, want string }{
		{"nothing", "", ""},
		{"a row is lost", rewrite("t = t.slice(1)"), "FULL: "},
		{"a row comes back", rewrite("t = pa.concat_tables([t, t.slice(2, 1)])"), "FULL: "},
		{"order", rewrite("t = t.take([1, 0, 2, 3, 4, 5])"), "changed order"},
		{"empty becomes null", column("s", "['a', None, None, 'b', 'c', 'd']"), "column s"},
		{"null becomes empty", column("s", "['a', '', '', 'b', 'c', 'd']"), "column s"},
		{"zero becomes minus zero", column("f", "[-0.0, float('nan'), 1.5, 2.0, 3.0, 4.0]"), "column f"},
		{"NaN becomes another", column("f", "pa.array([0, 0x7ff8000000000001, 0x3ff8000000000000, 0x4000000000000000,"+
			" 0x4008000000000000, 0x4010000000000000], pa.uint64()).view(pa.float64())"), "column f"},
		{"empty list becomes null", column("l", "[[1], None, None, [1, None], [2, 3], [4]]"), "column l"},
		{"list border moves", column("l", "[[1], [], None, [1, None, 2], [3], [4]]"), "column l"},
		{"null in a list becomes zero", column("l", "[[1], [], None, [1, 0], [2, 3], [4]]"), "column l"},
		{"field metadata", `lance.dataset(uri).replace_field_metadata("s", {"k": "v"})`, "REF: schema"},
		{"column renamed", `lance.dataset(uri).alter_columns({"path": "s", "name": "s2"})`, "REF: schema"},
		{"config", `lance.dataset(uri).update_config({"a": "b"})`, "REF: config"},
		{"tag moved", `lance.dataset(uri).tags.update("kept", 2)`, "OLD: tags"},
		{"version gone", `os.remove(os.path.join(uri, "_versions", "%020d.manifest" % (2**64 - 2)))`, `OLD: version 1 of "" is gone`},
		{"transaction gone", `[os.remove(os.path.join(uri, "_transactions", f)) for f in os.listdir(os.path.join(uri, "_transactions"))]`, "FILES: missing"},
		{"orphan", `open(os.path.join(uri, "data", "1"*24 + "0"*26 + ".lance"), "w").close()`, "FILES: nothing names"},
		{"orphan deletion", `os.makedirs(os.path.join(uri, "_deletions"), exist_ok=True); open(os.path.join(uri, "_deletions", "0-1-2.arrow"), "w").close()`, "FILES: nothing names"},
		{"journal", `os.makedirs(os.path.join(uri, "_maintenance")); open(os.path.join(uri, "_maintenance", "x"), "w").close()`, "OWN"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			lance.Do(t, "run", oracle.Args{"code": table, "uri": dir}, nil)
			before := lance.Snapshot(t, dir)
			lance.Do(t, "run", oracle.Args{"code": "import os\n" + c.code, "uri": dir}, nil)
			problems := oracle.Compare(before, lance.Snapshot(t, dir), oracle.Change{Fragments: true})
			switch text := strings.Join(problems, "\n"); {
			case c.want == "" && text != "":
				t.Errorf("complains of nothing: %s", text)
			case !strings.Contains(text, c.want):
				t.Errorf("complains %q, not of %q", text, c.want)
			}
		})
	}
}
