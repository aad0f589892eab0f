package table

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// tinyManifest is version 1 of a table with n fragments of ten rows each.
func tinyManifest(n int) *pb.Manifest {
	m := &pb.Manifest{
		Version:    1,
		Fields:     []*pb.Field{{Name: "id", LogicalType: "int64", ParentId: -1}},
		Timestamp:  timestamppb.New(time.Unix(1.7e9, 0)),
		DataFormat: &pb.Manifest_DataStorageFormat{FileFormat: "lance", Version: "2.1"},
	}
	for i := range n {
		m.Fragments = append(m.Fragments, tinyFragment(uint64(i)))
		m.MaxFragmentId = proto.Uint32(uint32(i))
	}
	return m
}

func tinyFragment(id uint64) *pb.DataFragment {
	return &pb.DataFragment{Id: id, PhysicalRows: 10, Files: []*pb.DataFile{{
		Path: uuid.NewString() + ".lance", Fields: []int32{0}, ColumnIndices: []int32{0},
		FileMajorVersion: 2, FileMinorVersion: 1,
	}}}
}

func publishManifest(tb testing.TB, s objects.Store, n Naming, f *manifestFile) {
	tb.Helper()
	b, err := f.encode()
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Publish(context.Background(), n.ManifestName(f.manifest.GetVersion()), b); err != nil {
		tb.Fatal(err)
	}
}

// world is a table without data files, and a second writer for it that is none
// of this package's: it makes the next version of whatever is newest.
type world struct {
	tb testing.TB
	s  objects.Store
	n  Naming
}

func newWorld(tb testing.TB, n Naming, fragments int) *world {
	tb.Helper()
	w := &world{tb, dirStore(tb, tb.TempDir()), n}
	publishManifest(tb, w.s, n, &manifestFile{manifest: tinyManifest(fragments)})
	return w
}

// head opens the newest version.
func (w *world) head() *Table {
	w.tb.Helper()
	t, err := Open(context.Background(), w.s)
	if err != nil {
		w.tb.Fatal(err)
	}
	return t
}

// put makes the next version.
func (w *world) put(txn *pb.Transaction, alter func(m *pb.Manifest)) *Table {
	w.tb.Helper()
	head := w.head()
	m := proto.CloneOf(head.Manifest())
	m.Version++
	if txn.Uuid == "" {
		txn.Uuid = uuid.NewString()
	}
	txn.ReadVersion = head.Version()
	alter(m)
	raw, err := proto.Marshal(txn)
	if err != nil {
		w.tb.Fatal(err)
	}
	publishManifest(w.tb, w.s, w.n, &manifestFile{manifest: m, indexSection: head.file.indexSection, transaction: raw})
	return w.head()
}

// top raises the lifetime mark by n and returns the first of the ids.
func top(m *pb.Manifest, n int) uint64 {
	id, ok := maxFragmentID(m)
	if ok {
		id++
	}
	m.MaxFragmentId = proto.Uint32(uint32(id) + uint32(n) - 1)
	return id
}

func (w *world) append(n int) *Table {
	op := &pb.Transaction_Append{}
	for range n {
		op.Fragments = append(op.Fragments, tinyFragment(0))
	}
	return w.put(&pb.Transaction{Operation: &pb.Transaction_Append_{Append: op}}, func(m *pb.Manifest) {
		id := top(m, n)
		for i, f := range op.Fragments {
			f = proto.CloneOf(f)
			f.Id = id + uint64(i)
			m.Fragments = append(m.Fragments, f)
		}
	})
}

// delete deletes a row of a fragment, or all of it.
func (w *world) delete(id uint64, whole bool) *Table {
	op := &pb.Transaction_Delete{}
	return w.put(&pb.Transaction{Operation: &pb.Transaction_Delete_{Delete: op}}, func(m *pb.Manifest) {
		for i, f := range m.Fragments {
			if f.GetId() != id {
				continue
			}
			if whole {
				op.DeletedFragmentIds = []uint64{id}
				m.Fragments = append(m.Fragments[:i:i], m.Fragments[i+1:]...)
				return
			}
			f = proto.CloneOf(f)
			f.DeletionFile = &pb.DeletionFile{ReadVersion: m.Version - 1, NumDeletedRows: f.GetDeletionFile().GetNumDeletedRows() + 1}
			op.UpdatedFragments = []*pb.DataFragment{f}
			m.Fragments[i] = f
			return
		}
		w.tb.Fatalf("no fragment %d", id)
	})
}

func (w *world) overwrite(n int) *Table {
	op := &pb.Transaction_Overwrite{}
	return w.put(&pb.Transaction{Operation: &pb.Transaction_Overwrite_{Overwrite: op}}, func(m *pb.Manifest) {
		m.Fragments = nil
		id := top(m, n)
		for i := range n {
			f := tinyFragment(id + uint64(i))
			m.Fragments = append(m.Fragments, f)
			op.Fragments = append(op.Fragments, tinyFragment(0))
		}
	})
}

func (w *world) reserve(n int) *Table {
	return w.put(reserve(n), func(m *pb.Manifest) { top(m, n) })
}

// config changes the table's config, and no fragment.
func (w *world) config(key string) *Table {
	op := &pb.Transaction_UpdateConfig{UpsertValues: map[string]string{key: "x"}}
	return w.put(&pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{UpdateConfig: op}}, func(m *pb.Manifest) {
		m.Config = map[string]string{key: "x"}
		m.WriterFeatureFlags |= FlagTableConfig
	})
}

// rewrite replaces fragments by one of the id that was reserved.
func (w *world) rewrite(id uint64, old ...uint64) *Table {
	txn := rewriteOf(w.head(), id, old...)
	return w.put(txn, func(m *pb.Manifest) {
		var keep []*pb.DataFragment
		for _, f := range m.Fragments {
			if !intersects([]uint64{f.GetId()}, old) {
				keep = append(keep, f)
			}
		}
		m.Fragments = sortedFragments(append(keep, txn.GetRewrite().GetGroups()[0].GetNewFragments()...))
	})
}

// rewriteOf is a transaction that replaces fragments by one.
func rewriteOf(t *Table, id uint64, old ...uint64) *pb.Transaction {
	g := &pb.Transaction_Rewrite_Group{NewFragments: []*pb.DataFragment{tinyFragment(id)}}
	for _, f := range t.Fragments() {
		if intersects([]uint64{f.GetId()}, old) {
			g.OldFragments = append(g.OldFragments, proto.CloneOf(f))
		}
	}
	g.NewFragments[0].PhysicalRows = uint64(10 * len(old))
	return &pb.Transaction{
		Uuid:      uuid.NewString(),
		Operation: &pb.Transaction_Rewrite_{Rewrite: &pb.Transaction_Rewrite{Groups: []*pb.Transaction_Rewrite_Group{g}}},
	}
}

func reserve(n int) *pb.Transaction {
	return &pb.Transaction{
		Uuid:      uuid.NewString(),
		Operation: &pb.Transaction_ReserveFragments_{ReserveFragments: &pb.Transaction_ReserveFragments{NumFragments: uint32(n)}},
	}
}

// drop removes manifests, as a cleanup that keeps nothing would.
func (w *world) drop(versions ...uint64) {
	w.tb.Helper()
	for _, v := range versions {
		if err := w.s.Delete(context.Background(), w.n.ManifestName(v)); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// versions lists the versions that are there.
func (w *world) versions() []uint64 {
	w.tb.Helper()
	l, err := ListVersions(context.Background(), w.s)
	if err != nil {
		w.tb.Fatal(err)
	}
	var out []uint64
	for _, r := range l.Versions {
		out = append(out, r.Version)
	}
	return out
}

// ids are the fragments of a version, for messages and comparisons.
func ids(t *Table) string { return fmt.Sprint(appendIDs(nil, t.Fragments())) }

// committer is one that waits for nothing but counts its waits.
func committer(waits *int) Committer {
	return Committer{
		Now: func() time.Time { return time.Unix(1.8e9, 0) },
		Wait: func(ctx context.Context, d time.Duration) error {
			if waits != nil {
				*waits++
			}
			return ctx.Err()
		},
	}
}
