package session

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// handle lets package lease and the jobs of this module get at the version.
type handle = pin.Handle

// Table is one version of a table. It never changes, may be used from many goroutines at once and
// need not be closed.
type Table struct {
	handle
	s          *Session
	key, name  string
	place      *location.Place
	id         string
	generation uint64
	t          *table.Table
}

func (s *Session) table(v view, t *table.Table) *Table {
	return &Table{handle: pin.New(pin.Version{Location: v.key, Table: t}), s: s, key: v.key, name: v.name,
		place: v.place, id: s.idOf(t), generation: v.rec.generation, t: t}
}

// String names the table's location for people.
func (t *Table) String() string { return t.name }

// Version is the version's number.
func (t *Table) Version() uint64 { return t.t.Version() }

// ETag identifies the version's manifest among all that its location has ever had under
// its name; "" where the store can't tell.
func (t *Table) ETag() string { return t.t.Ref().Token }

// ID is the id by which the table is marked, "" when it is not.
func (t *Table) ID() string { return t.id }

// Time is when the version was made, by its writer's clock.
func (t *Table) Time() time.Time { return t.t.Time() }

// Rows counts the live rows.
func (t *Table) Rows() uint64 { return t.t.Rows() }

// Schema is that of a scan of all columns. ErrRefused when a column has a type that this build
// does not know.
func (t *Table) Schema() (*arrow.Schema, error) {
	schema, err := scan.SchemaOf(t.t, scan.Options{})
	return schema, classify(err)
}

// Fragment is a part of a table that was written at once.
type Fragment struct {
	ID uint64
	// Rows are those that were written, Deleted of them are no longer there. Rows is 0 where
	// the writer was too old to say.
	Rows, Deleted uint64
	// Files are the fragment's data files, Bytes what they take as far as the manifest says.
	Files int
	Bytes uint64
}

// Fragments are in the order in which a scan reads them.
func (t *Table) Fragments() []Fragment {
	out := make([]Fragment, 0, len(t.t.Fragments()))
	for _, f := range t.t.Fragments() {
		x := Fragment{ID: f.GetId(), Rows: f.GetPhysicalRows(), Deleted: f.GetDeletionFile().GetNumDeletedRows(), Files: len(f.GetFiles())}
		for _, d := range f.GetFiles() {
			x.Bytes += d.GetFileSizeBytes()
		}
		out = append(out, x)
	}
	return out
}

// Indices are the names of the table's indices, those that Lance keeps for itself left out.
func (t *Table) Indices() []string {
	var out []string
	seen := make(map[string]bool)
	for _, i := range t.t.Indices() {
		if !table.IsSystemIndex(i) && !seen[i.GetName()] {
			seen[i.GetName()] = true
			out = append(out, i.GetName())
		}
	}
	return out
}
