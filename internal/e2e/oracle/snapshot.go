package oracle

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// Snapshot is a table as Lance reads it, and as it lies in its directory.
type Snapshot struct {
	URI     string
	Version uint64
	// Fold of all rows in scan order, and Columns one by one.
	Fold      Fold
	Columns   map[string]string
	Fragments []Fragment
	// Schema in words: types, field ids, all metadata.
	Schema   string
	Config   map[string]string
	Metadata map[string]string
	// FileVersion of new files.
	FileVersion string `json:"file_version"`
	// Stable tells whether the table has stable row ids.
	Stable   bool
	Tags     map[string]Ref
	Branches map[string]Ref
	Indices  []Index
	// Listed are the versions of each branch; main's name is empty.
	Listed map[string][]uint64
	// History is what versions hold, by "branch:version": those that refs point
	// to and a dozen more of each branch.
	History map[string]Past

	// Manifests and Disk are read without Lance, for local tables only.
	Manifests []Manifest
	// Disk is what lies below the table: size and time of each file.
	Disk map[string]File
}

// Fragment is one fragment of the newest version.
type Fragment struct {
	ID   uint64
	Fold Fold
	// Lineage folds row ids and both version sequences; nil without stable row ids.
	Lineage *Fold
}

// Ref is what a tag points to, or where a branch was cut.
type Ref struct {
	Branch  string
	Version uint64
}

// Index is one index by name.
type Index struct {
	Name, Type string
	Rows       int
	Fields     []string
	Segments   []string
}

// Past is an old version.
type Past struct {
	Fold   Fold
	Schema string
}

// Manifest is what one manifest says, read without Lance.
type Manifest struct {
	// File is its name below the table; Tree is empty or "tree/branch/".
	File, Tree string
	// Error, when not empty, is why it can't be read; the rest is then unset.
	Error         string
	Detached      bool
	Version       uint64
	Seconds       int64
	Nanos         int64
	ReaderFlags   uint64  `json:"reader_flags"`
	WriterFlags   uint64  `json:"writer_flags"`
	MaxFragmentID *uint32 `json:"max_fragment_id"`
	NextRowID     uint64  `json:"next_row_id"`
	FileVersion   string  `json:"file_version"`
	Branch        string
	// InlineV13 and Inline are the positions of the transaction, nil when absent.
	InlineV13 *uint64 `json:"inline_v13"`
	Inline    *uint64
	// Schema holds number and value of each part of each field; Numbers the field numbers in use.
	Schema    [][][2]any
	Numbers   []int
	Fragments []struct {
		ID           uint64
		PhysicalRows int64 `json:"physical_rows"`
		Deleted      int64
		RowIDs       string `json:"row_ids"`
		Numbers      []int
		Files        []struct {
			Path    string
			Fields  []int32
			Columns []int32
			Version string
			Size    int64
			Base    *uint32
		}
	}
	// Names below the table of all that the version needs, index directories
	// among them; absolute where a file lies elsewhere.
	Names []string
	// Maybe are directories that the version owns when they are there.
	Maybe []string
}

// File is one file on disk.
type File struct {
	Size int64
	Time time.Time
}

// UnmarshalJSON reads [size, seconds].
func (f *File) UnmarshalJSON(b []byte) error {
	var v [2]float64
	if err := unmarshal(b, &v); err != nil {
		return err
	}
	f.Size, f.Time = int64(v[0]), time.Unix(0, int64(v[1]*1e9))
	return nil
}

// Snapshot reads a table whole: every row, and every row of some old versions.
func (l *Lance) Snapshot(tb testing.TB, uri string, storage ...map[string]string) *Snapshot {
	tb.Helper()
	s := &Snapshot{}
	l.Do(tb, "snapshot", with(Args{"uri": uri}, storage), s)
	s.URI = uri
	return s
}

// with adds storage options to arguments.
func with(a Args, storage []map[string]string) Args {
	for _, s := range storage {
		a["storage_options"] = s
	}
	return a
}

// Time is when the version was committed, by its own word.
func (m Manifest) Time() time.Time { return time.Unix(m.Seconds, m.Nanos) }

// Names are the files on disk that some version needs, manifests among them.
func (s *Snapshot) Names() map[string]bool {
	named := s.named()
	out := map[string]bool{}
	for f := range s.Disk {
		out[f] = kind(f) != "" && owned(f, named)
	}
	return out
}

// Newest is the manifest of the newest version of main.
func (s *Snapshot) Newest() Manifest {
	var newest Manifest
	for _, m := range s.Manifests {
		if m.Tree == "" && !m.Detached && m.Version >= newest.Version {
			newest = m
		}
	}
	return newest
}

// Versions are main's versions, in order.
func (s *Snapshot) Versions() []uint64 {
	var out []uint64
	for _, m := range s.Manifests {
		if m.Tree == "" && !m.Detached {
			out = append(out, m.Version)
		}
	}
	slices.Sort(out)
	return out
}

// Rows lists how many rows each fragment holds.
func (s *Snapshot) Rows() []int {
	var out []int
	for _, f := range s.Fragments {
		out = append(out, f.Fold.Rows)
	}
	return out
}

// named is everything that some manifest names, with the manifests themselves.
func (s *Snapshot) named() map[string]string {
	out := map[string]string{}
	for _, m := range s.Manifests {
		out[m.File] = m.File
		for _, n := range slices.Concat(m.Names, m.Maybe) {
			out[n] = m.File
		}
	}
	return out
}

// Unnamed lists the files in Lance's own directories that no manifest names, those
// of branches included.
func (s *Snapshot) Unnamed() []string {
	named := s.named()
	var out []string
	for _, f := range slices.Sorted(maps.Keys(s.Disk)) {
		if kind(f) != "" && !owned(f, named) {
			out = append(out, f)
		}
	}
	return out
}

// Missing lists what manifests name and the disk does not hold: "file (manifest)".
func (s *Snapshot) Missing() []string {
	dirs := map[string]bool{}
	for f := range s.Disk {
		dirs[path.Dir(f)] = true
	}
	maybe := map[string]bool{}
	for _, m := range s.Manifests {
		for _, n := range m.Maybe {
			maybe[n] = true
		}
	}
	var out []string
	for n, by := range s.named() {
		if strings.HasPrefix(n, "/") || maybe[n] {
			// Of another base, whose own check sees to it, or without files.
			continue
		}
		if _, ok := s.Disk[n]; !ok && !dirs[n] {
			out = append(out, n+" ("+by+")")
		}
	}
	slices.Sort(out)
	return out
}

// kind is the directory of Lance's that a file lies in, or empty.
func kind(name string) string {
	if rest, ok := strings.CutPrefix(name, "tree/"); ok {
		for _, d := range kinds {
			if i := strings.Index(rest, "/"+d+"/"); i >= 0 {
				return d
			}
		}
		return ""
	}
	for _, d := range kinds {
		if strings.HasPrefix(name, d+"/") {
			return d
		}
	}
	return ""
}

var kinds = []string{"data", "_deletions", "_indices", "_transactions", "_versions"}

// owned tells whether a manifest names the file, or what it belongs to: the
// directory of an index, the data file of a blob's sidecar.
func owned(name string, named map[string]string) bool {
	if _, ok := named[name]; ok {
		return true
	}
	if path.Base(name) == "latest_version_hint.json" {
		return true
	}
	dir := path.Dir(name)
	if _, ok := named[dir]; ok {
		return true
	}
	_, ok := named[dir+".lance"]
	return ok
}
