package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
)

func pagesOf(err error, files ...scan.FilePages) func(func(scan.FilePages, error) bool) {
	return func(yield func(scan.FilePages, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
		if err != nil {
			yield(scan.FilePages{}, err)
		}
	}
}

func TestPagesPrints(t *testing.T) {
	page := func(path string, n int, rows, bytes uint64, encoding string) column.PageInfo {
		return column.PageInfo{Column: 1, Path: path, Page: n, Rows: rows, Bytes: bytes, Layout: "mini-block", Encoding: encoding}
	}
	files := []scan.FilePages{
		{Fragment: 0, File: "data/a.lance", Major: 2, Minor: 1, Pages: []column.PageInfo{
			page("id", 0, 1000, 2048, "flat(64)"), page("id", 1, 500, 1024, "flat(64)"), page("s.a", 0, 1500, 10, "flat(8)"),
		}},
		{Fragment: 1, File: "data/b.lance", Major: 2, Minor: 2, Pages: []column.PageInfo{page("id", 0, 7, 8, "constant")}},
	}
	var out bytes.Buffer
	if err := printPages(&out, pagesOf(nil, files...)); err != nil {
		t.Fatal(err)
	}
	want := `column  pages  rows   size     layout      encoding
id      2      1,500  3.0 KiB  mini-block  flat(64)
id      1      7      8 B      mini-block  constant
s.a     1      1,500  10 B     mini-block  flat(8)

2 data files
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := printPagesJSON(&out, pagesOf(nil, files...)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Files []filePagesObject
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Files) != 2 || got.Files[1].Version != "2.2" || got.Files[1].File != "data/b.lance" || got.Files[0].Pages[1] != (pageObject{Column: "id", Number: 1, Page: 1, Rows: 500, Bytes: 1024, Layout: "mini-block", Encoding: "flat(64)"}) {
		t.Errorf("%+v", got)
	}
	out.Reset()
	broken := errors.New("data/b.lance: cut \"off\"")
	if err := printPagesJSON(&out, pagesOf(broken, files[0])); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	var failed struct {
		Files []filePagesObject
		Error string
	}
	if err := json.Unmarshal(out.Bytes(), &failed); err != nil || len(failed.Files) != 1 || failed.Error != broken.Error() {
		t.Errorf("%s (%v)", out.String(), err)
	}
	out.Reset()
	if err := printPages(&out, pagesOf(broken, files[0])); !errors.Is(err, broken) || !strings.Contains(out.String(), "flat(64)") {
		t.Errorf("error %v after\n%s", err, out.String())
	}
}

func TestPagesOfManyEncodings(t *testing.T) {
	f := scan.FilePages{}
	for i := range 100 {
		f.Pages = append(f.Pages, column.PageInfo{Path: "a", Rows: 1, Encoding: fmt.Sprintf("bits(%d)", i)})
	}
	var out bytes.Buffer
	if err := printPages(&out, pagesOf(nil, f)); err != nil || strings.Count(out.String(), "\na ") != maxEncodings+1 || !strings.Contains(out.String(), "a       88     88    0 B           other encodings") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestPages(t *testing.T) {
	for _, name := range []string{"types_20", "types_21", "types_22"} {
		o := decoded[struct{ Files []filePagesObject }](t, Done, "pages", fixture(t, name))
		version := map[string]string{"types_20": "2.0", "types_21": "2.1", "types_22": "2.2"}[name]
		if len(o.Files) != 3 {
			t.Fatalf("%s: %d files", name, len(o.Files))
		}
		for _, f := range o.Files {
			rows := make(map[string]uint64)
			for _, p := range f.Pages {
				rows[p.Column] += p.Rows
				if p.Encoding == "" && p.Layout != "constant" || p.Layout == "" {
					t.Errorf("%s: %+v", name, p)
				}
			}
			if f.Version != version || rows["id"] != 20 || rows["struct.a"] != 20 || rows["vec"] != 20 || !strings.HasPrefix(f.File, "data/") {
				t.Errorf("%s: %s of version %s has %v", name, f.File, f.Version, rows)
			}
		}
		r := run(t, Env{}, "pages", fixture(t, name), "-columns=id")
		if r.status != Done || !strings.Contains(r.stdout, "\nid ") || strings.Contains(r.stdout, "\nvec ") || !strings.Contains(r.stdout, "3 data files") {
			t.Errorf("%s: status %d\n%s%s", name, r.status, r.stdout, r.stderr)
		}
	}
}
