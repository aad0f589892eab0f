package cleanup

import (
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Fields of newer releases that are known to name no file: marks and counters
// of manifests, labels of fragments. Any other field may.
var (
	harmlessInManifest = map[protowire.Number]bool{24: true, 25: true, 26: true}
	harmlessInFragment = map[protowire.Number]bool{15: true, 16: true}
)

// understood refuses a manifest with fields that may name files which this
// build would not see.
func understood(name string, m *pb.Manifest) error {
	if err := onlyKnown(name, "manifest", m, harmlessInManifest); err != nil {
		return err
	}
	for _, f := range m.GetFragments() {
		if err := onlyKnown(name, fmt.Sprintf("fragment %d", f.GetId()), f, harmlessInFragment); err != nil {
			return err
		}
		for _, d := range f.GetFiles() {
			if err := onlyKnown(name, "data file "+d.GetPath(), d, nil); err != nil {
				return err
			}
		}
		if d := f.GetDeletionFile(); d != nil {
			if err := onlyKnown(name, fmt.Sprintf("deletion file of fragment %d", f.GetId()), d, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func onlyKnown(name, what string, m protoreflect.ProtoMessage, harmless map[protowire.Number]bool) error {
	for u := m.ProtoReflect().GetUnknown(); len(u) > 0; {
		n, _, size := protowire.ConsumeField(u)
		if size < 0 {
			return fmt.Errorf("%s: %w: %s: %v", name, table.ErrCorrupt, what, protowire.ParseError(size))
		}
		if !harmless[n] {
			return fmt.Errorf("%s: %w: %s has field %d, which this build does not know and which may name files", name, table.ErrRefused, what, n)
		}
		u = u[size:]
	}
	return nil
}

// namesOf calls visit for everything that a version names: objects by their
// names, and directories of indices. Names in other bases are visited as if
// they were here: a branch's manifest names files of the main root that way, and
// a name kept too many does no harm.
func namesOf(t *table.Table, visit func(name string)) error {
	m := t.Manifest()
	if f := m.GetTransactionFile(); f != "" {
		visit(table.TransactionsDir + "/" + f)
	}
	for _, f := range m.GetFragments() {
		for _, d := range f.GetFiles() {
			visit(table.DataName(d))
		}
		if d := f.GetDeletionFile(); d != nil {
			visit(table.DeletionName(f.GetId(), d))
		}
		for _, x := range []*pb.ExternalFile{f.GetExternalRowIds(), f.GetExternalCreatedAtVersions(), f.GetExternalLastUpdatedAtVersions()} {
			if x != nil {
				visit(x.GetPath())
				visit(table.DataDir + "/" + x.GetPath())
			}
		}
	}
	for _, i := range t.Indices() {
		id, err := uuid.FromBytes(i.GetUuid().GetUuid())
		if err != nil {
			return fmt.Errorf("%s: %w: index %q: %v", t.Ref().Name, table.ErrCorrupt, i.GetName(), err)
		}
		visit(indexKey(id))
	}
	return nil
}

// indexKey stands for everything in an index's directory.
func indexKey(id uuid.UUID) string { return table.IndicesDir + "/" + id.String() }
