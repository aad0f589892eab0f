package compact

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

const managedBlob = "_blobs/00000000-0000-4000-8000-000000000001.blob"

// withManaged is a table with fragments of managed blobs, which no release writes by itself.
func withManaged(t *testing.T) *dirstore.Store {
	t.Helper()
	s := copyOfBlobs(t, "blobs_22")
	if err := s.Publish(t.Context(), managedBlob, []byte("abcdefghijklmnopqrstuvwxyz")); err != nil {
		t.Fatal(err)
	}
	head := open(t, s)
	schema, err := head.Schema()
	if err != nil {
		t.Fatal(err)
	}
	null := `null`
	blob := fmt.Sprintf(`{"kind":4,"position":3,"size":5,"blob_id":0,"blob_uri":%q}`, managedBlob)
	edit(t, s, func(m *pb.Manifest) {
		for k := range 2 {
			d := &pb.DataFile{Path: newDataFile(), FileMajorVersion: 2, FileMinorVersion: 2}
			w, err := s.Create(t.Context(), table.DataName(d))
			if err != nil {
				t.Fatal(err)
			}
			x, err := encoding.NewWriter(datafile.NewWriter(w, nil), table.V2_2, &pb.Schema{Fields: m.Fields}, encoding.WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var columns []arrow.Array
			var fields []arrow.Field
			for i, text := range []string{fmt.Sprintf("[%d,%d]", 100+2*k, 101+2*k), "[" + blob + "," + null + "]", "[" + blob + "," + blob + "]", `[{"n":1,"in":` + blob + `},null]`} {
				fields = append(fields, schema.Fields[i].Arrow())
				columns = append(columns, descriptors(t, fields[i].Type, text))
			}
			if err := x.Write(t.Context(), array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 2)); err != nil {
				t.Fatal(err)
			}
			e, err := x.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d.FileSizeBytes, d.Fields = uint64(e.Size), x.ColumnFields()
			for i := range d.Fields {
				d.ColumnIndices = append(d.ColumnIndices, int32(i))
			}
			m.MaxFragmentId = proto.Uint32(m.GetMaxFragmentId() + 1)
			m.Fragments = append(m.Fragments, &pb.DataFragment{Id: uint64(m.GetMaxFragmentId()), PhysicalRows: 2, Files: []*pb.DataFile{d}})
		}
		m.SchemaMetadata = map[string][]byte{"lance.blob.managed": []byte("true")}
		m.ReaderFeatureFlags |= table.FlagManagedBlobs
		m.WriterFeatureFlags |= table.FlagManagedBlobs
	})
	return s
}

// Managed blobs stay where they are, and the rows that are moved go on naming them; a cleanup leaves such a table alone.
func TestRunManagedBlobs(t *testing.T) {
	s := withManaged(t)
	before := open(t, s)
	want := allOf(t, before, false)["c"].(*array.Struct)
	keepForHand(t, s, "before")
	res, err := Run(t.Context(), s, Options{})
	if err != nil || len(open(t, s).Fragments()) != 1 || len(res.Plan.Left) > 0 {
		t.Fatalf("%+v, error %v", res, err)
	}
	keepForHand(t, s, "after")
	after := open(t, s)
	if m := after.Manifest(); m.ReaderFeatureFlags&m.WriterFeatureFlags&table.FlagManagedBlobs == 0 || string(m.SchemaMetadata["lance.blob.managed"]) != "true" {
		t.Errorf("flags %d and %d, metadata %v", m.ReaderFeatureFlags, m.WriterFeatureFlags, m.SchemaMetadata)
	}
	got := allOf(t, after, false)["c"].(*array.Struct)
	n := want.Len()
	if d := lancetest.Difference(got, n-4, want, n-4, 4); d != "" || got.Len() != n {
		t.Errorf("%d rows, were %d: %s", got.Len(), n, d)
	}
	if k := kindsOf(t, after)[4]; k != 8 {
		t.Errorf("%d managed blobs", k)
	}
	if b, err := readAll(t, s, managedBlob); err != nil || len(b) != 26 {
		t.Errorf("%d bytes, error %v", len(b), err)
	}
	_, err = cleanup.Run(t.Context(), s, cleanup.Options{Policy: cleanup.Policy{MinVersions: 1}})
	if !errors.Is(err, table.ErrRefused) || !strings.Contains(err.Error(), "16384") {
		t.Errorf("cleanup: error %v", err)
	}
}
