package shell

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

var inspectCommand = subcommand{
	name:  "inspect",
	args:  "[flags] TABLE",
	short: "what a table consists of",
	long: `Describes the newest version of a table from its manifest: versions, rows,
fragments, columns, indices, tags and branches, and what is stored. No data
file is read.`,
	define: func(flags *flag.FlagSet) action {
		var t target
		t.define(flags)
		return func(ctx context.Context, c *call, args []string) error {
			s, done, err := t.open(ctx, c, args)
			if err != nil {
				return t.fail(c, err)
			}
			defer done()
			r, err := Inspect(ctx, s)
			if err != nil {
				return t.fail(c, err)
			}
			if t.json {
				return object(c.stdout, r)
			}
			return r.print(c.stdout)
		}
	},
}

// Report is what inspect tells about a table.
type Report struct {
	Table   string    `json:"table"`
	Version uint64    `json:"version"`
	Created time.Time `json:"created"`
	// Writer is the library that made the version.
	Writer      string `json:"writer,omitempty"`
	FileVersion string `json:"file_version"`
	Naming      string `json:"naming"`
	// ReaderFlags and WriterFlags are the feature bits, by value.
	ReaderFlags uint64 `json:"reader_flags"`
	WriterFlags uint64 `json:"writer_flags"`
	// Refused says why this build would neither commit to the table nor clean it up.
	Refused      string `json:"refused,omitempty"`
	StableRowIDs bool   `json:"stable_row_ids"`

	Rows        uint64 `json:"rows"`
	DeletedRows uint64 `json:"deleted_rows"`
	Fragments   int    `json:"fragments"`
	DataFiles   int    `json:"data_files"`
	// DataBytes is the size of the version's data files, where the manifest knows it.
	DataBytes uint64 `json:"data_bytes"`

	Versions         int               `json:"versions"`
	DetachedVersions int               `json:"detached_versions"`
	Columns          []Column          `json:"columns"`
	Indices          []Index           `json:"indices"`
	Tags             []Tag             `json:"tags"`
	Branches         []Branch          `json:"branches"`
	BasePaths        []string          `json:"base_paths,omitempty"`
	Config           map[string]string `json:"config,omitempty"`
	Stored           Stored            `json:"stored"`
}

// Column is one field of the schema, nested ones included.
type Column struct {
	ID int32 `json:"id"`
	// Name with the names of its parents before it.
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

// Index is one entry of the index section; an index may have several.
type Index struct {
	Name    string   `json:"name"`
	UUID    string   `json:"uuid"`
	Columns []string `json:"columns"`
	Type    string   `json:"type,omitempty"`
	// DatasetVersion is the version that the entry was made on.
	DatasetVersion uint64 `json:"dataset_version"`
	// Covered fragments of this version; -1 where the entry doesn't tell.
	Covered int `json:"covered_fragments"`
	// Bytes of its files; 0 where the entry doesn't tell.
	Bytes uint64 `json:"bytes"`
}

// Tag is a named version.
type Tag struct {
	Name    string `json:"name"`
	Version uint64 `json:"version"`
	Branch  string `json:"branch,omitempty"`
}

// Branch is a line of versions of its own.
type Branch struct {
	Name          string `json:"name"`
	ParentBranch  string `json:"parent_branch,omitempty"`
	ParentVersion uint64 `json:"parent_version"`
}

// Inspect describes the newest version of a table.
func Inspect(ctx context.Context, s objects.Store) (*Report, error) {
	t, err := table.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	m := t.Manifest()
	r := &Report{
		Table: s.String(), Version: t.Version(), Created: t.Time().UTC(),
		FileVersion: t.FileVersion().String(), Naming: t.Naming().String(),
		ReaderFlags: m.GetReaderFeatureFlags(), WriterFlags: m.GetWriterFeatureFlags(),
		StableRowIDs: t.StableRowIDs(), Rows: t.Rows(), Fragments: len(t.Fragments()),
		Config: m.GetConfig(),
	}
	if w := m.GetWriterVersion(); w != nil {
		r.Writer = w.GetLibrary() + " " + w.GetVersion()
	}
	if err := t.Writable(); err != nil {
		if !errors.Is(err, table.ErrRefused) {
			return nil, err
		}
		r.Refused = err.Error()
	}
	for _, f := range t.Fragments() {
		r.DeletedRows += f.GetDeletionFile().GetNumDeletedRows()
		r.DataFiles += len(f.GetFiles())
		for _, d := range f.GetFiles() {
			r.DataBytes += d.GetFileSizeBytes()
		}
	}
	for _, b := range m.GetBasePaths() {
		r.BasePaths = append(r.BasePaths, b.GetPath())
	}
	r.Columns = columns(m.GetFields())
	if r.Indices, err = indices(t, r.Columns); err != nil {
		return nil, err
	}
	return r, r.look(ctx, s)
}

// look adds what a manifest doesn't know.
func (r *Report) look(ctx context.Context, s objects.Store) error {
	l, err := table.ListVersions(ctx, s)
	if err != nil {
		return err
	}
	r.Versions, r.DetachedVersions = len(l.Versions), len(l.Detached)
	tags, err := table.Tags(ctx, s)
	if err != nil {
		return err
	}
	r.Tags = make([]Tag, 0, len(tags))
	for _, t := range tags {
		r.Tags = append(r.Tags, Tag{Name: t.Name, Version: t.Version, Branch: t.Branch})
	}
	branches, err := table.Branches(ctx, s)
	if err != nil {
		return err
	}
	r.Branches = make([]Branch, 0, len(branches))
	for _, b := range branches {
		r.Branches = append(r.Branches, Branch{Name: b.Name, ParentBranch: b.ParentBranch, ParentVersion: b.ParentVersion})
	}
	if r.Stored, err = Measure(ctx, s); err != nil {
		return fmt.Errorf("counting the files of the table: %w", err)
	}
	return nil
}
