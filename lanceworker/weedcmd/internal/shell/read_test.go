package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

func TestReadingErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{fmt.Errorf("x: %w", table.ErrRefused), Refused},
		{fmt.Errorf("x: %w", column.ErrUnsupported), Refused},
		{fmt.Errorf("x: %w", table.ErrCorrupt), Failed},
		{fmt.Errorf("x: %w", column.ErrCorrupt), Failed},
		{fmt.Errorf("x: %w", column.ErrLimit), Failed},
		{fmt.Errorf("%w: x", ErrUsage), Usage},
		{nil, Failed},
	} {
		if got := (Env{}).status(unread(c.err)); got != c.want {
			t.Errorf("%v: status %d, want %d", c.err, got, c.want)
		}
	}
}

func TestSchema(t *testing.T) {
	o := decoded[schemaObject](t, Done, "schema", fixture(t, "types_22"))
	types := make(map[string]string)
	for _, f := range o.Fields {
		types[f.Name] = f.Type
	}
	for name, want := range map[string]string{
		"id": "int64", "f16": "float16", "dec": "decimal128(12, 2)", "ts": "timestamp[us, UTC]", "vec": "fixed_size_list(float32, 128)",
		"lists": "list(list(float32))", "struct": "struct(a: int32, b: string)", "dict": "dictionary(int32, string)", "map": "map(string, int32)", "few": "large_string",
	} {
		if types[name] != want {
			t.Errorf("%s is %s, want %s", name, types[name], want)
		}
	}
	if o.Version != 3 || len(o.Fields) != 20 {
		t.Errorf("version %d, %d columns", o.Version, len(o.Fields))
	}
	r := run(t, Env{}, "schema", fixture(t, "configured"))
	if r.status != Done || !strings.Contains(r.stdout, "column") || !strings.Contains(r.stdout, "metadata of") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

func TestVersions(t *testing.T) {
	dir := fixture(t, "many_appends")
	for version, want := range map[string]uint64{"": 40, "1": 1, "40": 40, "fifth": 5} {
		if o := decoded[schemaObject](t, Done, "schema", dir, "-version", version); o.Version != want {
			t.Errorf("-version %q reads version %d, want %d", version, o.Version, want)
		}
	}
	for version, want := range map[string]string{"41": "no version 41", "0": "no version 0", "sixth": `"sixth" is neither`, "-1": `"-1" is neither`} {
		if r := run(t, Env{}, "schema", dir, "-version="+version); r.status != Failed || !strings.Contains(r.stderr, want) {
			t.Errorf("-version %s: status %d, %s", version, r.status, r.stderr)
		}
	}
}

// A manifest that is cut off is a failure to read, though nothing else would
// touch the table.
func TestReadingABrokenManifest(t *testing.T) {
	dir := fixture(t, "many_appends")
	manifests, err := filepath.Glob(filepath.Join(dir, "_versions", "*.manifest"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	newest := slices.Min(manifests)
	if err := os.Truncate(newest, 20); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"head", "schema", "pages"} {
		if o := decoded[failure](t, Failed, command, dir); !strings.Contains(o.Error, filepath.Base(newest)) {
			t.Errorf("%s: %+v, want the manifest named", command, o)
		}
	}
}
