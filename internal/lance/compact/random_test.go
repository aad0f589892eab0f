package compact

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// maker writes tables of the right form and no meaning: pages are random bytes.
type maker struct {
	tb      testing.TB
	s       *dirstore.Store
	rng     *rand.Rand
	src     objects.Reader // random bytes
	version table.FileVersion
	m       *pb.Manifest
	files   int
}

const sourceSize = 1 << 20

func newMaker(tb testing.TB, seed uint64, v table.FileVersion, fields ...*pb.Field) *maker {
	tb.Helper()
	k := &maker{tb: tb, s: dirStore(tb, filepath.Join(tb.TempDir(), "table")), rng: rand.New(rand.NewPCG(seed, 0)), version: v}
	b := make([]byte, sourceSize)
	rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
	random := dirStore(tb, tb.TempDir())
	if err := random.Publish(tb.Context(), "random", b); err != nil {
		tb.Fatal(err)
	}
	var err error
	if k.src, err = random.Open(tb.Context(), "random"); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { k.src.Close() })
	k.m = &pb.Manifest{
		Version: 1, Fields: fields, MaxFragmentId: proto.Uint32(0),
		DataFormat: &pb.Manifest_DataStorageFormat{FileFormat: "lance", Version: v.String()},
	}
	return k
}

func flatFields(ids ...int32) (fs []*pb.Field) {
	for _, id := range ids {
		fs = append(fs, &pb.Field{Id: id, ParentId: -1, Name: fmt.Sprint("f", id), LogicalType: "int64", Nullable: true})
	}
	return fs
}

// file writes a data file with columns for the fields, in that order.
func (k *maker) file(rows uint64, fields ...int32) *pb.DataFile {
	k.tb.Helper()
	k.files++
	d := &pb.DataFile{Path: fmt.Sprintf("%d.lance", k.files), Fields: fields, FileMajorVersion: k.version.Major, FileMinorVersion: k.version.Minor}
	w, err := k.s.Create(k.tb.Context(), table.DataName(d))
	if err != nil {
		k.tb.Fatal(err)
	}
	defer w.Abort()
	dw := datafile.NewWriter(w, nil)
	junk := func(most int) datafile.Span {
		n := k.rng.IntN(most)
		return datafile.Span{Pos: uint64(k.rng.IntN(sourceSize - n)), Size: uint64(n)}
	}
	put := func(s datafile.Span) uint64 {
		pos, err := dw.Copy(k.tb.Context(), k.src, s)
		if err != nil {
			k.tb.Fatal(err)
		}
		return pos
	}
	url := layoutURL
	if k.version == table.V2_0 {
		url = arrayURL
	}
	var columns []*pb.ColumnMetadata
	for i := range fields {
		d.ColumnIndices = append(d.ColumnIndices, int32(i))
		c := &pb.ColumnMetadata{Encoding: message(columnURL, oneField(1, ""))}
		for at := uint64(0); at < rows; {
			p := &pb.ColumnMetadata_Page{Priority: at, Length: 1 + k.rng.Uint64N(rows-at)}
			at += p.Length
			p.Encoding = message(url, oneField(protowire.Number(1+k.rng.IntN(3)), fmt.Sprint(k.rng.IntN(3))))
			for range k.rng.IntN(4) {
				s := junk(1 + k.rng.IntN(9000))
				if k.rng.IntN(4) == 0 {
					s.Size = 0 // it keeps its place among the others
				}
				p.BufferOffsets = append(p.BufferOffsets, put(s))
				p.BufferSizes = append(p.BufferSizes, s.Size)
			}
			c.Pages = append(c.Pages, p)
		}
		columns = append(columns, c)
		if k.rng.IntN(3) == 0 { // bytes that nobody names
			put(junk(12_000))
		}
	}
	major, minor := uint16(k.version.Major), uint16(k.version.Minor)
	if k.version == table.V2_0 && k.rng.IntN(2) == 0 {
		major, minor = 0, 3
	}
	e, err := dw.Finish(k.tb.Context(), major, minor, &pb.FileDescriptor{Length: rows, Schema: &pb.Schema{}}, columns)
	if err != nil {
		k.tb.Fatal(err)
	}
	if k.rng.IntN(3) > 0 {
		d.FileSizeBytes = uint64(e.Size)
	}
	return d
}

// fragment adds a fragment of these files.
func (k *maker) fragment(rows uint64, files ...*pb.DataFile) *pb.DataFragment {
	f := &pb.DataFragment{Id: uint64(k.m.GetMaxFragmentId()), PhysicalRows: rows, Files: files}
	k.m.MaxFragmentId = proto.Uint32(k.m.GetMaxFragmentId() + 1)
	k.m.Fragments = append(k.m.Fragments, f)
	return f
}

// done makes the table's first version.
func (k *maker) done(indices ...*pb.IndexMetadata) *table.Table {
	k.tb.Helper()
	var section *pb.IndexSection
	if indices != nil {
		section = &pb.IndexSection{Indices: indices}
	}
	b := encode(k.tb, k.m, section, &pb.Transaction{Uuid: "first"})
	if err := k.s.Publish(k.tb.Context(), table.NamingV2.ManifestName(1), b); err != nil {
		k.tb.Fatal(err)
	}
	return open(k.tb, k.s)
}

// Tables of all shapes: columns in any order and any number of files, dead ones
// among them, pages of any number of buffers, some of no length.
func TestRandomTables(t *testing.T) {
	seeds := uint64(40)
	if full {
		seeds = 1500
	}
	merged := 0
	for seed := range seeds {
		k := newMaker(t, seed, []table.FileVersion{table.V2_0, table.V2_1, table.V2_2}[seed%3], flatFields(4, 2, 9, 7)...)
		layouts := [][]int32{{2, 4, 7, 9}, {4, 2, 9}, {7}}
		for range 1 + k.rng.IntN(12) {
			rows := 1 + k.rng.Uint64N(40)
			ids := append([]int32(nil), layouts[k.rng.IntN(30)/26]...)
			for range k.rng.IntN(3) { // of columns that were dropped, or superseded
				ids = append(ids, []int32{1, 3, 5, -2}[k.rng.IntN(4)])
			}
			k.rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			var files []*pb.DataFile
			for len(ids) > 0 {
				n := 1 + k.rng.IntN(len(ids))
				files, ids = append(files, k.file(rows, ids[:n]...)), ids[n:]
			}
			k.fragment(rows, files...)
		}
		k.done()
		merged += runTwice(t, k.s, Options{careful: true, Policy: Policy{TargetRows: int64(1 + k.rng.IntN(150))}}).FragmentsRemoved
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		os.RemoveAll(k.s.String())
	}
	if merged < 50 {
		t.Errorf("only %d fragments were merged", merged)
	}
}

// Why fragments are left alone, as far as the manifest and a look at the files tell.
func TestFacts(t *testing.T) {
	tests := []struct {
		name  string
		alter func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata
		kind  Kind
		says  string
	}{
		{"nothing", func(*maker, *pb.DataFragment) []*pb.IndexMetadata { return nil }, Fine, ""},
		{"all deleted", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.DeletionFile = &pb.DeletionFile{NumDeletedRows: 10}
			return nil
		}, Broken, "_deletions/1-0-0.arrow: object not found"},
		{"deletions in another base", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.DeletionFile = &pb.DeletionFile{NumDeletedRows: 3, BaseId: proto.Uint32(2)}
			return nil
		}, Broken, "base 2"},
		{"deletions not counted", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.DeletionFile = &pb.DeletionFile{}
			return nil
		}, Broken, "_deletions/1-0-0.arrow: object not found"},
		{"rows not counted", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.PhysicalRows = 0
			return nil
		}, Fine, ""},
		{"index", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			return []*pb.IndexMetadata{{Name: "other", FragmentBitmap: bitmapOf(t, 7)}, {Name: "mine", FragmentBitmap: bitmapOf(t, 1)}}
		}, Unsupported, `index "mine"`},
		{"index that does not say", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			return []*pb.IndexMetadata{{Name: "old"}}
		}, Unsupported, `index "old"`},
		{"index that can't be read", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			return []*pb.IndexMetadata{{Name: "odd", FragmentBitmap: []byte{1}}}
		}, Broken, `index "odd"`},
		{"index on others", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			return []*pb.IndexMetadata{{Name: "other", FragmentBitmap: bitmapOf(t, 7)}}
		}, Fine, ""},
		{"blob", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			k.m.Fields[1].Metadata = map[string][]byte{"lance-encoding:blob": []byte("true")}
			return nil
		}, Unsupported, `column "f1"`},
		{"blob of the second kind", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			k.m.Fields[1].ExtensionName = "lance.blob.v2"
			return nil
		}, Unsupported, `column "f1"`},
		{"the same, in the metadata", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			k.m.Fields[1].Metadata = map[string][]byte{"ARROW:extension:name": []byte("lance.blob.v2")}
			return nil
		}, Unsupported, `column "f1"`},
		// Lance looks at the key alone.
		{"blob whatever the value", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			k.m.Fields[1].Metadata = map[string][]byte{"lance-encoding:blob": []byte("false")}
			return nil
		}, Unsupported, `column "f1"`},
		{"another base", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files[0].BaseId = proto.Uint32(0)
			return nil
		}, Broken, "base 0"},
		{"another file version", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files[0].FileMinorVersion = 2
			return nil
		}, Broken, "version 2.1, the manifest 2.2"},
		{"a file version that is not known", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files[0].FileMinorVersion = 3
			return nil
		}, Unsupported, "version 2.3"},
		{"a field twice", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files = append(f.Files, k.file(10, 1))
			return nil
		}, Fine, ""},
		{"a field twice, one of them superseded", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files = []*pb.DataFile{k.file(10, 0, -2), k.file(10, 1)}
			return nil
		}, Fine, ""},
		{"no file (#62)", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files = nil
			return nil
		}, Unsupported, "no data file"},
		{"no live column", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files = []*pb.DataFile{k.file(10, 5, -2)}
			return nil
		}, Unsupported, "no data file"},
		{"unknown in the fragment", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.ProtoReflect().SetUnknown(oneField(11, "overlays"))
			return nil
		}, Unsupported, "fragment field 11"},
		{"unknown in the file", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.Files[0].ProtoReflect().SetUnknown(oneField(9, "x"))
			return nil
		}, Unsupported, "data file field 9"},
		{"external row ids", func(k *maker, f *pb.DataFragment) []*pb.IndexMetadata {
			f.RowIdSequence = &pb.DataFragment_ExternalRowIds{ExternalRowIds: &pb.ExternalFile{}}
			return nil
		}, Unsupported, "outside the manifest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newMaker(t, 1, table.V2_1, flatFields(0, 1)...)
			k.fragment(10, k.file(10, 0, 1))
			f := k.fragment(10, k.file(10, 1, 0))
			indices := tt.alter(k, f)
			tab := k.done(indices...)
			facts, _, err := Survey(t.Context(), tab, Policy{})
			if err != nil {
				t.Fatal(err)
			}
			got := facts.Fragments[1]
			if got.Kind != tt.kind || (got.Blocked != "") != (tt.says != "") {
				t.Errorf("%+v", got)
			}
			says(t, got.Blocked, tt.says)
			// What is blocked is not merged, and nothing is written.
			res, err := Run(t.Context(), k.s, Options{careful: true})
			if err != nil || res.Changed != (tt.says == "") {
				t.Errorf("%+v, error %v", res, err)
			}
		})
	}
}

// Which fragments hold the same columns: by field ids, of today's schema. It matters of those alone that can't be filled.
func TestLayouts(t *testing.T) {
	fields := flatFields(3, 1, 2, 4)
	for _, f := range fields[:3] {
		f.Nullable = false
	}
	k := newMaker(t, 1, table.V2_1, fields...)
	same := []*pb.DataFragment{
		k.fragment(1, k.file(1, 1, 2, 3)), k.fragment(1, k.file(1, 3, 1, 2)), k.fragment(1, k.file(1, 2), k.file(1, 3, 1)),
		k.fragment(1, k.file(1, 1, 2, 3, 9, 4)), k.fragment(1, k.file(1, 1, -2, 3), k.file(1, 2, -2)),
	}
	other := []*pb.DataFragment{k.fragment(1, k.file(1, 1, 2)), k.fragment(1, k.file(1, 1, 2, -2)), k.fragment(1)}
	f := FactsOf(k.done())
	for i, x := range f.Fragments {
		if (x.Layout == f.Fragments[0].Layout) != (i < len(same)) {
			t.Errorf("fragment %d: layout %q", i, x.Layout)
		}
	}
	if len(f.Fragments) != len(same)+len(other) {
		t.Errorf("%d fragments", len(f.Fragments))
	}
}

// A manifest may list its fragments in any order; a scan, and so a merge, goes
// by their ids (#42).
func TestFragmentsOutOfOrder(t *testing.T) {
	k := newMaker(t, 2, table.V2_2, flatFields(0)...)
	for range 4 {
		k.fragment(5, k.file(5, 0))
	}
	f := k.m.Fragments
	f[0], f[1], f[2], f[3] = f[2], f[0], f[3], f[1]
	k.done()
	res, err := Run(t.Context(), k.s, Options{careful: true, Policy: Policy{TargetRows: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(res.Plan.Tasks[0].Fragments, res.Plan.Tasks[1].Fragments); got != "[0 1] [2 3]" {
		t.Errorf("tasks %s", got)
	}
	checkRewrites(t, k.s, table.NamingV2, 1, res.Version)
}
