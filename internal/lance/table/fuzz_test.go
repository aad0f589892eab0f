package table

import (
	"bytes"
	"context"
	"errors"
	"runtime/metrics"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// allocated fails the test when f allocates more than a fixed amount and a
// multiple of what it was given: no number in stored bytes may decide alone.
func allocated(t *testing.T, given, fixed int, f func()) {
	t.Helper()
	// Messages of nothing but empty messages grow most.
	const factor = 400
	before := heap()
	f()
	if n := heap() - before; n > uint64(fixed+factor*given) {
		t.Errorf("%d bytes were allocated for %d", n, given)
	}
}

func heap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Whatever is stored as a manifest is decoded or refused. What is decoded can be
// committed upon, and encoded it decodes to the same.
func FuzzDecodeManifest(f *testing.F) {
	seen := make(map[int]bool)
	for _, m := range manifests(f) {
		if !seen[len(m.b)/64] {
			seen[len(m.b)/64] = true
			f.Add(m.b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		allocated(t, len(b), 1<<20, func() {
			x, err := decodeManifest("m", b)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrRefused) {
					t.Errorf("error %v", err)
				}
				return
			}
			tab, err := Decode(nil, VersionRef{Version: x.manifest.GetVersion(), Name: "m"}, NamingV2, b)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrRefused) {
					t.Errorf("error %v", err)
				}
				return
			}
			for _, i := range tab.Indices() {
				c, err := CoverageOf(i)
				if err == nil {
					c.Has(0)
				}
			}
			tab.Rows()
			tab.transactionUUID()
			ConcatLineage(tab.Fragments())
			once, err := (&manifestFile{manifest: x.manifest, indexSection: x.indexSection, transaction: x.transaction}).encode()
			if err != nil {
				return // text that is no UTF-8
			}
			y, err := decodeManifest("m", once)
			if err != nil {
				t.Fatalf("what was encoded: %v", err)
			}
			twice, err := y.encode()
			if err != nil || !bytes.Equal(once, twice) {
				t.Errorf("encoded twice, differs (%v)", err)
			}
		})
	})
}

func FuzzDecodeDeletions(f *testing.F) {
	deletionFiles(f, func(_ *Table, frag *pb.DataFragment, raw []byte) {
		f.Add(frag.GetDeletionFile().GetFileType() == pb.DeletionFile_BITMAP, raw)
	})
	f.Fuzz(func(t *testing.T, bitmap bool, b []byte) {
		kind := pb.DeletionFile_ARROW_ARRAY
		if bitmap {
			kind = pb.DeletionFile_BITMAP
		}
		// The array's form may be compressed.
		allocated(t, len(b), 2*maxDeletionArray, func() {
			v, err := DecodeDeletions(kind, b)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("error %v", err)
				}
				return
			}
			if v.GetCardinality() > 1<<20 {
				return
			}
			again, out, err := EncodeDeletions(v)
			if err != nil {
				t.Fatal(err)
			}
			if w, err := DecodeDeletions(again, out); err != nil || !w.Equals(v) {
				t.Errorf("written and read again: %v", err)
			}
		})
	})
}

func FuzzConcatLineage(f *testing.F) {
	for _, tab := range pick(f, 100, "stable row ids", (*Table).StableRowIDs) {
		for _, x := range tab.Fragments() {
			f.Add(x.GetInlineRowIds(), x.GetInlineCreatedAtVersions(), x.GetInlineLastUpdatedAtVersions(), x.GetPhysicalRows())
		}
	}
	for _, s := range segmentKinds() {
		f.Add(sequence(f, s), versionSequence(f, versionSpan{s, 3}), []byte{}, uint64(len(values(f, s))))
	}
	f.Fuzz(func(t *testing.T, ids, created, updated []byte, rows uint64) {
		allocated(t, len(ids)+len(created)+len(updated), 1<<20, func() {
			x := &pb.DataFragment{PhysicalRows: rows}
			Lineage{RowIDs: ids, CreatedAt: created, LastUpdated: updated}.Set(x)
			got, err := ConcatLineage([]*pb.DataFragment{x, proto.CloneOf(x)})
			if err != nil {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrRefused) {
					t.Errorf("error %v", err)
				}
				return
			}
			both := &pb.DataFragment{PhysicalRows: 2 * rows}
			got.Set(both)
			if rows < 1<<62 {
				if _, err := ConcatLineage([]*pb.DataFragment{both}); err != nil {
					t.Errorf("two of them together: %v", err)
				}
			}
		})
	})
}

func FuzzSchema(f *testing.F) {
	for _, x := range fixtures(f) {
		s, err := dirstore.New(x.dir, dirstore.Options{})
		if err != nil {
			f.Fatal(err)
		}
		t, err := Open(context.Background(), s)
		if err != nil {
			f.Fatal(err)
		}
		b, err := proto.Marshal(&pb.Schema{Fields: t.Manifest().GetFields()})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := new(pb.Schema)
		if proto.Unmarshal(b, m) != nil {
			return
		}
		fields, err := FieldsOf(m.GetFields())
		if err != nil {
			return
		}
		_ = (&Schema{Fields: fields}).Arrow().String()
	})
}
