package scan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func TestSidecarNames(t *testing.T) {
	for id, want := range map[uint32]string{
		1:       "10000000000000000000000000000000.blob",
		2:       "01000000000000000000000000000000.blob",
		6:       "01100000000000000000000000000000.blob",
		1 << 31: "00000000000000000000000000000001.blob",
	} {
		if got := sidecarName(id); got != want {
			t.Errorf("%d: %s, want %s", id, got, want)
		}
	}
	p := newPlace(nil, "data/abc.lance", &pb.BasePath{Id: 3, Path: "x"})
	if got := p.sidecar("1.blob"); got.name != "data/abc/1.blob" || got.label != "data/abc/1.blob in base 3 (x)" {
		t.Errorf("%+v", got)
	}
}

// Where the bytes of a blob are, by its descriptor.
func TestBlobPlaces(t *testing.T) {
	own, other := dirStore(t, t.TempDir()), dirStore(t, t.TempDir())
	b := &converter{part: columnPart{place: newPlace(own, "data/f.lance", nil)}, bases: &bases{
		own: own, opened: make(map[uint32]objects.Store),
		entries: map[uint32]*pb.BasePath{1: {Id: 1, Path: "file:///srv/blobs"}, 2: {Id: 2, Path: "s3://bucket/dir/"}, 3: {Id: 3, Path: "/plain"}},
		open: func(e *pb.BasePath) (objects.Store, error) {
			if e.GetId() == 3 {
				return nil, errors.New("not today")
			}
			return other, nil
		}}}
	for _, tt := range []struct {
		d     descriptor
		store objects.Store
		name  string
		whole bool
		err   error
		says  string
	}{
		{d: descriptor{kind: 0, pos: 5, size: 6}},
		{d: descriptor{kind: 1, pos: 5, size: 6, id: 1}, store: own, name: "data/f/10000000000000000000000000000000.blob"},
		{d: descriptor{kind: 2, pos: 0, size: 6, id: 2}, store: own, name: "data/f/01000000000000000000000000000000.blob"},
		{d: descriptor{kind: 3, pos: 5, size: 6, id: 1, uri: "a/b.bin"}, store: other, name: "a/b.bin"},
		{d: descriptor{kind: 3, id: 2, uri: "c"}, store: other, name: "c", whole: true},
		{d: descriptor{kind: 3, id: 1, uri: "../c"}, err: column.ErrCorrupt, says: `"../c"`},
		{d: descriptor{kind: 3, id: 1, uri: "/etc/passwd"}, err: column.ErrCorrupt, says: `"/etc/passwd"`},
		{d: descriptor{kind: 3, id: 9, uri: "c"}, err: table.ErrCorrupt, says: "base 9"},
		{d: descriptor{kind: 3, id: 3, uri: "c"}, says: "not today"},
		{d: descriptor{kind: 3, uri: "file:///srv/blobs/x%20y"}, store: other, name: "x y", whole: true},
		{d: descriptor{kind: 3, size: 1, uri: "/srv/blobs/x"}, store: other, name: "x"},
		{d: descriptor{kind: 3, size: 1, uri: "s3://bucket/dir/x/y"}, store: other, name: "x/y"},
		{d: descriptor{kind: 3, uri: "s3://bucket/dirx/y"}, err: table.ErrRefused, says: "s3://bucket/dirx/y"},
		{d: descriptor{kind: 3, uri: "s3://bucket/dir/../y"}, err: table.ErrRefused, says: "../y"},
		{d: descriptor{kind: 3, uri: "file:///etc/passwd"}, err: table.ErrRefused, says: "file:///etc/passwd"},
		{d: descriptor{kind: 3, uri: "http://[::1"}, err: column.ErrCorrupt, says: "http://[::1"},
		{d: descriptor{kind: 3, uri: "/plain/x"}, says: "not today"},
		{d: descriptor{kind: 4, uri: "_blobs/x.blob"}, err: column.ErrUnsupported, says: "managed"},
		{d: descriptor{kind: 5}, err: column.ErrUnsupported, says: "kind 5"},
	} {
		got, err := b.resolve(tt.d)
		if tt.err == nil && tt.says == "" {
			want := blob{at: place{tt.store, tt.name, got.at.label, got.at.base}, span: datafile.Span{Pos: tt.d.pos, Size: tt.d.size}, whole: tt.whole}
			if err != nil || got != want || (got.at.label == "") != (tt.store == nil) {
				t.Errorf("%+v: %+v, error %v", tt.d, got, err)
			}
			continue
		}
		if err == nil || tt.err != nil && !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: error %v", tt.d, err)
		}
	}
}

// Batches of blobs keep to their bound, whatever lies in them.
func TestBlobBatches(t *testing.T) {
	want := expected(t, "blob_22_bytes")
	tab := openFixture(t, "blob_22")
	for _, most := range []int64{1, 500, 900, 2000, 5800, 1 << 20} {
		o := Options{Columns: []string{"b"}, BlobBytes: true, BatchBytes: most, Bases: beside(t)}
		schema, batches, err := scanAll(t, tab, o)
		if err != nil {
			t.Fatal(err)
		}
		check(t, schema, batches, want, 0, want.NumRows())
		var rows []int64
		for _, b := range batches {
			rows = append(rows, b.NumRows())
			if n := column.SizeOf(b.Column(0).Data()); n > most && b.NumRows() > 1 {
				t.Errorf("at most %d: a batch of %d rows has %d bytes", most, b.NumRows(), n)
			}
		}
		if most == 1<<20 && !slices.Equal(rows, []int64{want.NumRows()}) || most == 1 && len(rows) != int(want.NumRows()) {
			t.Errorf("at most %d: batches of %v rows", most, rows)
		}
	}
}

// Lance 8.0 wrote null blobs so that every release, itself included, takes the struct for null that begins with one.
func TestMisreadBlobs(t *testing.T) {
	for _, columns := range [][]string{nil, {"s"}, {"s.b"}} {
		_, _, err := scanAll(t, openFixture(t, "blob_22_misread"), Options{Columns: columns})
		if !errors.Is(err, column.ErrUnsupported) || errors.Is(err, column.ErrCorrupt) || !strings.Contains(err.Error(), "column 1 (s.b), page 0: full-zip: ") || !strings.Contains(err.Error(), "Lance 8.0") {
			t.Errorf("columns %v: error %v", columns, err)
		}
	}
	if _, _, err := scanAll(t, openFixture(t, "blob_22_misread"), Options{Columns: []string{"id", "s.m"}}); err != nil {
		t.Error(err)
	}
}

// A base that can't be reached hinders only those who want to know what is in it.
func TestBlobsOutOfReach(t *testing.T) {
	tab := openFixture(t, "blob_22")
	if _, _, err := scanAll(t, tab, Options{}); err != nil {
		t.Errorf("descriptors: %v", err)
	}
	_, _, err := scanAll(t, tab, Options{BlobBytes: true})
	if !errors.Is(err, table.ErrRefused) || !strings.Contains(err.Error(), "o.bin") || !strings.Contains(err.Error(), `column "b"`) {
		t.Errorf("bytes: error %v", err)
	}
}

// Blobs inside of structs and lists.
func TestNestedBlobs(t *testing.T) {
	w := newWorld(t, 8)
	w.add(0, 10, 10, []int32{0})
	s := newScan(w.table(w.store), Options{}, nil)
	content := []byte("zero one two three")
	src := newSource(&memoryReader{content}, s.slots, &s.waits)
	fields := schemaOf(t, "0:st:struct\n 1:a:int8\n 2:bs:list\n  3:item:blob large_binary\n")
	nodes, err := project(fields, Options{BlobBytes: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes[0].typ.String(); got != "struct<a: int8 nullable, bs: list<item: large_binary, nullable> nullable>" {
		t.Fatalf("type %s", got)
	}
	build := array.NewStructBuilder(memory.DefaultAllocator, fields[0].Type.(*arrow.StructType))
	lists := build.FieldBuilder(1).(*array.ListBuilder)
	item := lists.ValueBuilder().(*array.StructBuilder)
	add := func(valid bool, spans ...[2]uint64) {
		build.Append(true)
		build.FieldBuilder(0).(*array.Int8Builder).Append(7)
		lists.Append(valid)
		for _, x := range spans {
			if x == [2]uint64{9, 9} {
				item.AppendNull()
				continue
			}
			item.Append(true)
			item.FieldBuilder(0).(*array.Uint64Builder).Append(x[0])
			item.FieldBuilder(1).(*array.Uint64Builder).Append(x[1])
		}
	}
	add(true, [2]uint64{0, 4}, [2]uint64{5, 3}, [2]uint64{1, 0})
	add(false)
	add(true, [2]uint64{9, 9}, [2]uint64{13, 5}, [2]uint64{0, 0})
	d := build.NewArray().Data()
	held := []holding{{version: table.V2_1, columns: map[int32]int{1: 0, 3: 1}}}
	x, _, err := parter{file: 0, held: held[0]}.part(placeColumn(nodes[0], held))
	if err != nil {
		t.Fatal(err)
	}
	b := &converter{scan: s, bases: s.bases, part: columnPart{part: x, src: src}, left: 1000}
	got, err := b.convert(t.Context(), x.shape, d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{[7 7 7] [["zero" "one" (null)] (null) [(null) "three" ""]]}`
	if text := fmt.Sprint(array.MakeFromData(got)); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
