package compact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// A fragment whose blobs are gone or cut stays as it is, with the reason; what was written with it is removed, and the others
// are merged.
func TestRunBlobsBroken(t *testing.T) {
	for what, harm := range map[string]func(name string) error{
		"gone": os.Remove,
		"cut":  func(name string) error { return os.Truncate(name, 10) },
	} {
		s := copyOfBlobs(t, "blobs_22")
		before := open(t, s)
		stem := strings.TrimSuffix(table.DataName(before.Fragments()[1].GetFiles()[0]), ".lance")
		var victim string
		for _, f := range files(t, s) {
			if path.Dir(f) == stem {
				victim = f
			}
		}
		if err := harm(filepath.Join(s.String(), victim)); err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), s, Options{})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		left := leftFor(res.Plan, Broken)
		if len(left) != 1 || len(open(t, s).Fragments()) != 2 {
			t.Fatalf("%s: left %v, %d fragments", what, res.Plan.Left, len(open(t, s).Fragments()))
		}
		says(t, left[0], "column ", victim)
		if o := append(orphans(t, files(t, s), checkVersions(t, s)), looseBlobs(files(t, s))...); len(o) > 0 {
			t.Errorf("%s: left behind: %v", what, o)
		}
	}
}

// mover is one whose new data file takes anything, and whose old one has so many bytes.
func mover(t *testing.T, v table.FileVersion, size int) (*blobMover, *pb.DataFragment, *[]datafile.Span) {
	k := newMaker(t, 1, v, flatFields(0)...)
	d := &pb.DataFile{Path: "old.lance", Fields: []int32{1}}
	if err := k.s.Publish(t.Context(), table.DataName(d), make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	k.fragment(1, k.file(1, 0))
	var copied []datafile.Span
	m := &blobMover{t: k.done(), side: &sidecars{store: k.s, data: "data/new.lance"}, moved: func(int64) {},
		toFile: func(_ context.Context, _ objects.Reader, s datafile.Span) (uint64, error) {
			copied = append(copied, s)
			return uint64(len(copied)) * 1000, nil
		}}
	t.Cleanup(m.close)
	return m, &pb.DataFragment{Files: []*pb.DataFile{d}}, &copied
}

func descriptors(t *testing.T, dt arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Positions of blobs that lie behind each other stay apart as they were, and nothing between them that was another's comes along.
func TestMoveFirstKind(t *testing.T) {
	u64 := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Uint64, Nullable: true}
	}
	dt := arrow.StructOf(u64("position"), u64("size"))
	f := &table.Field{ID: 1, Name: "b", Type: dt, Blob: table.BlobV1}
	rows := `[{"position":128,"size":10},null,{"position":0,"size":70},{"position":0,"size":0},{"position":256,"size":3},{"position":1,"size":0},{"position":325,"size":1},{"position":130,"size":2}]`
	for v, want := range map[table.FileVersion]string{
		table.V2_1: `[{"position":1128,"size":10},null,{"position":1000,"size":70},{"position":0,"size":0},{"position":2000,"size":3},null,{"position":3000,"size":1},{"position":1130,"size":2}]`,
		table.V2_0: `[{"position":1128,"size":10},{"position":1,"size":0},{"position":1000,"size":70},{"position":0,"size":0},{"position":2000,"size":3},{"position":1,"size":0},{"position":3000,"size":1},{"position":1130,"size":2}]`,
	} {
		m, frag, copied := mover(t, v, 400)
		got, err := m.move(t.Context(), frag, f, descriptors(t, dt, rows))
		if err != nil {
			t.Fatal(err)
		}
		if d := lancetest.Difference(got, 0, descriptors(t, dt, want), 0, 8); d != "" {
			t.Errorf("version %s: %v: %s", v, got, d)
		}
		if s := fmt.Sprint(*copied); s != "[{0 138} {256 3} {325 1}]" {
			t.Errorf("copied %s", s)
		}
	}
	for _, bad := range []string{`{"position":399,"size":2}`, `{"position":401,"size":1}`, fmt.Sprintf(`{"position":8,"size":%d}`, uint64(math.MaxUint64)), fmt.Sprintf(`{"position":%d,"size":8}`, uint64(math.MaxUint64))} {
		m, frag, copied := mover(t, table.V2_1, 400)
		_, err := m.move(t.Context(), frag, f, descriptors(t, dt, "["+bad+"]"))
		if !errors.Is(err, datafile.ErrCorrupt) || len(*copied) > 0 {
			t.Errorf("%s: error %v, copied %v", bad, err, *copied)
		}
	}
}

// References to what lies elsewhere are kept, and what is not known is refused.
func TestMoveSecondKind(t *testing.T) {
	dt := arrow.StructOf(arrow.Field{Name: "kind", Type: arrow.PrimitiveTypes.Uint8}, arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64},
		arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64}, arrow.Field{Name: "blob_id", Type: arrow.PrimitiveTypes.Uint32}, arrow.Field{Name: "blob_uri", Type: arrow.BinaryTypes.String})
	inner := &table.Field{ID: 1, Name: "b", Type: dt, Blob: table.BlobV2}
	f := &table.Field{ID: 9, Name: "s", Logical: "struct", Type: arrow.StructOf(arrow.Field{Name: "b", Type: dt, Nullable: true}), Children: []*table.Field{inner}}
	one := func(kind int, pos uint64) string {
		return fmt.Sprintf(`{"b":{"kind":%d,"position":%d,"size":5,"blob_id":7,"blob_uri":"u"}}`, kind, pos)
	}
	kept := "[" + one(3, 4) + "," + one(4, 6) + `,null,{"b":null}]`
	m, frag, copied := mover(t, table.V2_2, 400)
	got, err := m.move(t.Context(), frag, f, descriptors(t, f.Type, kept))
	if err != nil || len(*copied) > 0 {
		t.Fatalf("copied %v, error %v", *copied, err)
	}
	if d := lancetest.Difference(got, 0, descriptors(t, f.Type, kept), 0, 4); d != "" {
		t.Errorf("%v: %s", got, d)
	}
	for text, want := range map[string]error{
		one(5, 0): column.ErrUnsupported, one(0, 396): datafile.ErrCorrupt, one(1, 0): datafile.ErrCorrupt, one(2, 0): datafile.ErrCorrupt,
	} {
		m, frag, _ := mover(t, table.V2_2, 400)
		if _, err := m.move(t.Context(), frag, f, descriptors(t, f.Type, "["+text+"]")); !errors.Is(err, want) {
			t.Errorf("%s: error %v", text, err)
		}
		if len(m.side.names) > 0 {
			t.Errorf("%s: wrote %v", text, m.side.names)
		}
	}
}

// Blobs inside of lists are left alone.
func TestBlobsInLists(t *testing.T) {
	k := newMaker(t, 1, table.V2_2,
		&pb.Field{Id: 0, ParentId: -1, Name: "l", LogicalType: "list", Nullable: true},
		&pb.Field{Id: 1, ParentId: 0, Name: "item", LogicalType: "struct", Nullable: true, ExtensionName: "lance.blob.v2"})
	for range 2 {
		k.fragment(8, k.file(8, 1))
	}
	k.done()
	res, err := Run(t.Context(), k.s, Options{})
	if err != nil || res.Changed {
		t.Fatalf("%+v, error %v", res, err)
	}
	left := leftFor(res.Plan, Unsupported)
	if len(left) != 2 {
		t.Fatalf("left %v", res.Plan.Left)
	}
	says(t, left[0], `column "l"`, "blobs inside of a list")
}

// Lance compacts tables of older versions to files of 2.2 with blobs of the second kind. It can't append to them then, and
// such fragments are left alone.
func TestBlobsOfTwoKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(m *pb.Manifest)
		says   string
	}{
		"blobs_22": {func(m *pb.Manifest) {
			m.DataFormat = &pb.Manifest_DataStorageFormat{FileFormat: "lance", Version: "2.1"}
		}, "blobs of the second kind in files of version 2.1"},
		"blobs_21": {func(m *pb.Manifest) {
			m.DataFormat = &pb.Manifest_DataStorageFormat{FileFormat: "lance", Version: "2.2"}
			for i, f := range m.Fields {
				if f.Name == "b" {
					m.Fields[i] = proto.CloneOf(f)
					m.Fields[i].LogicalType, m.Fields[i].ExtensionName, m.Fields[i].Metadata = "struct", "lance.blob.v2", nil
				}
			}
		}, "holds blobs of the first kind"},
	} {
		s := copyOfBlobs(t, name)
		edit(t, s, func(m *pb.Manifest) {
			tt.change(m)
			m.ReaderFeatureFlags |= table.FlagMixedVersions
			m.WriterFeatureFlags |= table.FlagMixedVersions
		})
		res, err := Run(t.Context(), s, Options{})
		left := leftFor(res.Plan, Unsupported)
		if err != nil || res.Changed || len(left) != len(open(t, s).Fragments()) {
			t.Fatalf("%s: %+v, error %v", name, res, err)
		}
		says(t, left[0], tt.says)
	}
}
