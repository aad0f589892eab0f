package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// fakeRows are batches and the error after them.
type fakeRows struct {
	schema  *arrow.Schema
	batches []string
	err     error
}

func (f *fakeRows) Schema() *arrow.Schema { return f.schema }

func (f *fakeRows) Next(context.Context) (arrow.RecordBatch, error) {
	if len(f.batches) == 0 {
		return nil, f.err
	}
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, f.schema, strings.NewReader(f.batches[0]))
	f.batches = f.batches[1:]
	return b, err
}

func openFixture(t *testing.T, name string) *table.Table {
	t.Helper()
	s, err := dirstore.New(fixture(t, name), dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	v, err := table.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestHeadPrints(t *testing.T) {
	v := openFixture(t, "many_appends")
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text\t\"", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	batches := []string{`[{"id": 1, "text\t\"": "a"}, {"id": 2, "text\t\"": null}]`, `[{"id": 3, "text\t\"": "tab\there"}]`}
	for name, c := range map[string]struct {
		json bool
		rows fakeRows
		want string
		err  string
	}{
		"JSON": {json: true, rows: fakeRows{schema, batches, io.EOF},
			want: `{"columns":["id","text\t\""],"rows":[{"id":1,"text\t\"":"a"},{"id":2,"text\t\"":null},{"id":3,"text\t\"":"tab\there"}]}` + "\n"},
		"JSON of no rows":    {json: true, rows: fakeRows{schema, nil, io.EOF}, want: `{"columns":["id","text\t\""],"rows":[]}` + "\n"},
		"JSON of no columns": {json: true, rows: fakeRows{arrow.NewSchema(nil, nil), nil, io.EOF}, want: `{"columns":[],"rows":[]}` + "\n"},
		"JSON and an error": {json: true, rows: fakeRows{schema, batches[:1], errors.New("cut \"off\"")},
			want: `{"columns":["id","text\t\""],"rows":[{"id":1,"text\t\"":"a"},{"id":2,"text\t\"":null}],"changed":false,"error":"cut \"off\""}` + "\n", err: `cut "off"`},
		"text": {rows: fakeRows{schema, batches, io.EOF},
			want: "id  text\\t\"\n1   a\n2   null\n3   tab\\there\n\n3 of 1,000 rows at version 40\n"},
		"text and an error": {rows: fakeRows{schema, batches[:1], errors.New("cut off")}, want: "id  text\\t\"\n1   a\n2   null\n", err: "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			h := head{reading: reading{target: target{json: c.json}}}
			err := h.print(t.Context(), &out, v, &c.rows)
			if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if out.String() != c.want {
				t.Errorf("printed\n%s\nwant\n%s", out.String(), c.want)
			}
		})
	}
}

// A table for people does not wait for its last row.
func TestHeadOfManyRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	var batch strings.Builder
	for i := range 2 * textBlock {
		fmt.Fprintf(&batch, `,{"id":%d}`, i)
	}
	var out bytes.Buffer
	p := newTextRows(&out, schema, false)
	b, err := (&fakeRows{schema: schema, batches: []string{"[" + batch.String()[1:] + "]"}}).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if err := p.batch(b); err != nil || strings.Count(out.String(), "\n") != 2*textBlock+1 {
		t.Errorf("%d lines, %v", strings.Count(out.String(), "\n"), err)
	}
}

// errFull is what a full pipe says.
var errFull = errors.New("pipe closed")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

func TestHeadIntoAClosedPipe(t *testing.T) {
	v := openFixture(t, "many_appends")
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for _, json := range []bool{true, false} {
		h := head{reading: reading{target: target{json: json}}}
		if err := h.print(t.Context(), fullWriter{}, v, &fakeRows{schema, []string{`[{"id":1}]`}, io.EOF}); !errors.Is(err, errFull) {
			t.Errorf("json %v: %v", json, err)
		}
	}
	if err := printPages(fullWriter{}, pagesOf(nil)); !errors.Is(err, errFull) {
		t.Errorf("pages: %v", err)
	}
	if err := printPagesJSON(fullWriter{}, pagesOf(nil)); !errors.Is(err, errFull) {
		t.Errorf("pages -json: %v", err)
	}
}
