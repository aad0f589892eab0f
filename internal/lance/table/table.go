package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Table is one version of a table. It is immutable: what its methods return
// must not be changed.
type Table struct {
	store   objects.Store
	ref     VersionRef
	naming  Naming
	file    *manifestFile
	indices []*pb.IndexMetadata
	version FileVersion
	bases   BaseOpener
}

// Open reads the newest version. ErrNoTable when there is none, ErrRefused
// when it uses what this build does not read.
func Open(ctx context.Context, s objects.Store) (*Table, error) {
	// The newest version can be cleaned away between finding and reading it
	// only when a newer one has come: look again.
	const lookAgain = 3
	for i := 0; ; i++ {
		p, err := Peek(ctx, s, NamingUnknown)
		if err != nil {
			return nil, err
		}
		t, err := p.Open(ctx)
		if err == nil || i == lookAgain || !errors.Is(err, objects.ErrNotFound) {
			return t, err
		}
	}
}

// OpenVersion reads one version; objects.ErrNotFound when it does not exist.
func OpenVersion(ctx context.Context, s objects.Store, n Naming, version uint64) (*Table, error) {
	return openRef(ctx, s, VersionRef{Version: version, Name: n.ManifestName(version)}, n)
}

// OpenRef reads the version that a listing named.
func OpenRef(ctx context.Context, s objects.Store, l *Listing, ref VersionRef) (*Table, error) {
	return openRef(ctx, s, ref, l.Naming)
}

func openRef(ctx context.Context, s objects.Store, ref VersionRef, n Naming) (*Table, error) {
	return openBy(ctx, s, ref, n, func(ctx context.Context) (objects.Reader, error) { return s.Open(ctx, ref.Name) })
}

// openBy reads the version of a manifest object that open opens.
func openBy(ctx context.Context, s objects.Store, ref VersionRef, n Naming, open func(context.Context) (objects.Reader, error)) (*Table, error) {
	b, e, err := objects.ReadListed(ctx, objects.Listed{Open: open}, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", ref.Name, err)
	}
	ref.Size, ref.ModTime, ref.Token = e.Size, e.ModTime, e.Token
	return Decode(s, ref, n, b)
}

// Decode makes a Table from the bytes of its manifest object.
func Decode(s objects.Store, ref VersionRef, n Naming, b []byte) (*Table, error) {
	f, err := decodeManifest(ref.Name, b)
	if err != nil {
		return nil, err
	}
	m := f.manifest
	if err := checkReaderFlags(ref.Name, m); err != nil {
		return nil, err
	}
	if m.GetVersion() != ref.Version {
		return nil, corrupt(ref.Name, "says that it is version %d", m.GetVersion())
	}
	t := &Table{store: s, ref: ref, naming: n, file: f}
	if t.version, err = fileVersionOf(ref.Name, m); err != nil {
		return nil, err
	}
	if err := checkFragments(ref.Name, m); err != nil {
		return nil, err
	}
	if f.indexSection != nil {
		sec := new(pb.IndexSection)
		if err := pb.Unmarshal(f.indexSection, sec); err != nil {
			return nil, corrupt(ref.Name, "index section: %v", err)
		}
		t.indices = sec.GetIndices()
	}
	return t, nil
}

// checkFragments finds contradictions in a manifest's list of fragments.
func checkFragments(name string, m *pb.Manifest) error {
	seen := make(map[uint64]bool, len(m.GetFragments()))
	stable := m.GetReaderFeatureFlags()&FlagStableRowIDs != 0
	for _, f := range m.GetFragments() {
		if seen[f.GetId()] {
			return corrupt(name, "fragment %d is listed twice", f.GetId())
		}
		seen[f.GetId()] = true
		if stable && f.GetRowIdSequence() == nil {
			return corrupt(name, "fragment %d has no row ids, though the table has stable ones", f.GetId())
		}
		if d := f.GetDeletionFile(); d != nil && d.GetNumDeletedRows() > f.GetPhysicalRows() && f.GetPhysicalRows() != 0 {
			return corrupt(name, "fragment %d has %d rows, %d of them deleted", f.GetId(), f.GetPhysicalRows(), d.GetNumDeletedRows())
		}
		for _, d := range f.GetFiles() {
			if len(d.GetFields()) != len(d.GetColumnIndices()) && len(d.GetColumnIndices()) != 0 {
				return corrupt(name, "data file %s of fragment %d has %d fields and %d columns", d.GetPath(), f.GetId(), len(d.GetFields()), len(d.GetColumnIndices()))
			}
			if err := objects.CheckName(d.GetPath()); err != nil {
				return corrupt(name, "data file of fragment %d: %v", f.GetId(), err)
			}
		}
	}
	return nil
}

// Store is where the table lies.
func (t *Table) Store() objects.Store { return t.store }

// Ref names the manifest object that this version was read from.
func (t *Table) Ref() VersionRef { return t.ref }

// Naming is how the table names its manifests.
func (t *Table) Naming() Naming { return t.naming }

// Version is the version's number.
func (t *Table) Version() uint64 { return t.ref.Version }

// Manifest is the decoded manifest.
func (t *Table) Manifest() *pb.Manifest { return t.file.manifest }

// Fragments are in the manifest's order, which is the order of a scan.
func (t *Table) Fragments() []*pb.DataFragment { return t.file.manifest.GetFragments() }

// Indices are the entries of the index section, system entries included.
func (t *Table) Indices() []*pb.IndexMetadata { return t.indices }

// FileVersion is what new data files of the table have to be.
func (t *Table) FileVersion() FileVersion { return t.version }

// StableRowIDs tells whether rows keep their id when they move.
func (t *Table) StableRowIDs() bool {
	return t.file.manifest.GetReaderFeatureFlags()&FlagStableRowIDs != 0
}

// Time is when the version was made, by its writer's clock.
func (t *Table) Time() time.Time {
	ts := t.file.manifest.GetTimestamp()
	if ts == nil {
		return time.Time{}
	}
	return ts.AsTime()
}

// Rows counts the live rows, as far as the manifest says: a fragment whose entry does not
// tell how many rows it stores counts for none.
func (t *Table) Rows() uint64 {
	var n uint64
	for _, f := range t.Fragments() {
		stored := f.GetPhysicalRows()
		n += stored - min(stored, f.GetDeletionFile().GetNumDeletedRows())
	}
	return n
}

// Writable refuses a table on which this build must neither commit nor clean up.
func (t *Table) Writable() error { return checkWriterFlags(t.ref.Name, t.file.manifest) }

// MaxFragmentID is the highest fragment id ever used; ok is false when none was.
func (t *Table) MaxFragmentID() (id uint64, ok bool) { return maxFragmentID(t.file.manifest) }

func maxFragmentID(m *pb.Manifest) (id uint64, ok bool) {
	if m.MaxFragmentId != nil {
		id, ok = uint64(m.GetMaxFragmentId()), true
	}
	for _, f := range m.GetFragments() {
		id, ok = max(id, f.GetId()), true
	}
	return id, ok
}

// Transaction returns what made this version: the inline one, or the file's. It is
// nil when there is neither, as in tables of old releases.
func (t *Table) Transaction(ctx context.Context) (*pb.Transaction, error) {
	if raw := t.file.transaction; raw != nil {
		txn := new(pb.Transaction)
		if pb.Unmarshal(raw, txn) == nil {
			return txn, nil
		}
	}
	name := t.file.manifest.GetTransactionFile()
	if name == "" {
		return nil, nil
	}
	name = TransactionsDir + "/" + name
	b, _, err := objects.ReadAll(ctx, t.store, name, maxManifest)
	if errors.Is(err, objects.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	txn := new(pb.Transaction)
	if err := pb.Unmarshal(b, txn); err != nil {
		return nil, corrupt(name, "transaction: %v", err)
	}
	return txn, nil
}

// transactionUUID identifies the commit that made this version; "" when the
// version does not say.
func (t *Table) transactionUUID() string {
	if raw := t.file.transaction; raw != nil {
		txn := new(pb.Transaction)
		if pb.Unmarshal(raw, txn) == nil && txn.GetUuid() != "" {
			return txn.GetUuid()
		}
	}
	return uuidOfTransactionName(t.file.manifest.GetTransactionFile())
}

// sortedFragments are the fragments in order of id, as a commit stores them.
func sortedFragments(fs []*pb.DataFragment) []*pb.DataFragment {
	fs = slices.Clone(fs)
	slices.SortStableFunc(fs, func(a, b *pb.DataFragment) int { return compareVersions(a.GetId(), b.GetId()) })
	return fs
}
