package shell

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// rowsObject is what head -json prints.
type rowsObject struct {
	Columns []string
	Rows    []map[string]any
	Error   string
}

// The rows of real tables, as the script that made them says they are.
func TestHead(t *testing.T) {
	for _, name := range []string{"types_20", "types_21", "types_22"} {
		t.Run(name, func(t *testing.T) {
			o := decoded[rowsObject](t, Done, "head", "-n", "1000", fixture(t, name))
			if len(o.Rows) != 60 || o.Columns[0] != "id" {
				t.Fatalf("%d rows, columns %v", len(o.Rows), o.Columns)
			}
			for i, row := range o.Rows {
				null := i%20%5 == 4
				f64 := any(float64(i) / 3)
				switch i % 6 {
				case 0:
					f64 = "NaN"
				case 1:
					f64 = math.Copysign(0, -1)
				}
				text := "word " + fmt.Sprint(i)
				if i%3 == 0 {
					text = ""
				}
				list := make([]any, i%4)
				for k := range list {
					list[k] = float64(k)
				}
				b := any(fmt.Sprintf("s%d", i))
				if null {
					b = nil
				}
				for column, want := range map[string]any{
					"i8": float64(i % 100), "f64": f64, "flag": i%2 == 0, "dec": fmt.Sprintf("%d.%02d", i/4, i%4*25), "day": "2024-01-01", "text": text, "list": list,
					"bin": map[string]any{"bytes": float64(i % 9), "base64": base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(i)}, i%9))},
				} {
					if null {
						want = nil
					}
					if got := row[column]; !reflect.DeepEqual(got, want) {
						t.Errorf("row %d: %s is %v, want %v", i, column, got, want)
					}
				}
				if row["id"] != float64(i) || row["few"] != strings.Repeat("abc"[i%3:i%3+1], 5) || row["ts"] != fmt.Sprintf("2024-01-01T00:00:%02dZ", i) || row["null"] != nil ||
					!reflect.DeepEqual(row["struct"], map[string]any{"a": float64(i), "b": b}) {
					t.Errorf("row %d: %v", i, row)
				}
				if v, ok := row["vec"].([]any); !ok || len(v) != 9 || v[8] != "… 128 values" {
					t.Errorf("row %d: vec %v", i, row["vec"])
				}
				if name == "types_22" {
					want := []any{}
					for k := range i % 3 {
						want = append(want, map[string]any{"key": fmt.Sprint("k", k), "value": float64(i)})
					}
					if !reflect.DeepEqual(row["map"], want) {
						t.Errorf("row %d: map %v, want %v", i, row["map"], want)
					}
				}
			}
		})
	}
}

func TestHeadFlags(t *testing.T) {
	dir := fixture(t, "types_22")
	o := decoded[rowsObject](t, Done, "head", dir, "-n=1", "-full", "-columns", "vec, struct.b", "-row-ids")
	if !slices.Equal(o.Columns, []string{"vec", "struct", "_rowaddr", "_rowid"}) || len(o.Rows) != 1 {
		t.Fatalf("%+v", o)
	}
	row := o.Rows[0]
	if v := row["vec"].([]any); len(v) != 128 || !reflect.DeepEqual(row["struct"], map[string]any{"b": "s0"}) || row["_rowaddr"] != 0.0 {
		t.Errorf("%v", row)
	}
	if o := decoded[rowsObject](t, Done, "head", fixture(t, "many_appends"), "-n=1000", "-version=fifth"); len(o.Rows) != 125 {
		t.Errorf("version 5 has %d rows", len(o.Rows))
	}
	if o := decoded[rowsObject](t, Done, "head", fixture(t, "deletions"), "-n=1000"); len(o.Rows) != 68 {
		t.Errorf("%d rows are left after the deletions", len(o.Rows))
	}
	if o := decoded[rowsObject](t, Done, "head", dir, "-n=0"); len(o.Rows) != 0 || len(o.Columns) != 20 {
		t.Errorf("-n 0: %+v", o)
	}
	o = decoded[rowsObject](t, Done, "head", fixture(t, "blobs_21"), "-n=1", "-blob-bytes")
	if !reflect.DeepEqual(o.Rows[0]["blob"], map[string]any{"bytes": 2.0, "base64": "cDA="}) {
		t.Errorf("blob %v", o.Rows[0])
	}
	r := run(t, Env{}, "head", dir, "-columns=struct.b,vec", "-n=2")
	if want := "2 of 60 rows at version 3\n"; r.status != Done || !strings.HasPrefix(r.stdout, "struct       vec\n{\"b\": \"s0\"}  [") || !strings.HasSuffix(r.stdout, want) {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := run(t, Env{}, "head", dir, "-columns=nope"); r.status != Usage || !strings.Contains(r.stderr, `"nope"`) {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

// What is read before a broken file stays on show, and the status is 1.
func TestHeadOfABrokenTable(t *testing.T) {
	dir := fixture(t, "many_appends")
	v := openFixture(t, "many_appends")
	broken := table.DataName(v.Fragments()[30].GetFiles()[0])
	if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(broken)), 300); err != nil {
		t.Fatal(err)
	}
	o := decoded[rowsObject](t, Failed, "head", dir, "-n=1000")
	if len(o.Rows) == 0 || len(o.Rows) > 750 || !strings.Contains(o.Error, filepath.Base(broken)) {
		t.Errorf("%d rows, then %s", len(o.Rows), o.Error)
	}
	if r := run(t, Env{}, "pages", dir); r.status != Failed || !strings.Contains(r.stderr, filepath.Base(broken)) {
		t.Errorf("pages: status %d, %s", r.status, r.stderr)
	}
}
