package shell

import (
	"errors"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

// The objects of -json. Names are part of the shell's contract: scripts depend
// on them, and outputs of a job have the names that the job reports to admin.

type planObject struct {
	Tasks []taskObject `json:"tasks"`
	Left  []leftObject `json:"left"`
	// TableSettings are those of the table that overrode what was asked for.
	TableSettings []string `json:"table_settings,omitempty"`
}

type taskObject struct {
	Fragments []uint64 `json:"fragments"`
	Reason    string   `json:"reason"`
	Outputs   int      `json:"outputs"`
	// OutputRows are the rows of each of them.
	OutputRows []int64 `json:"output_rows"`
	Rows       int64   `json:"rows"`
	Bytes      int64   `json:"bytes"`
	// Encoded is about how many of the bytes are decoded and encoded, not copied.
	Encoded int64 `json:"encoded"`
}

type leftObject struct {
	Fragment uint64 `json:"fragment"`
	Reason   string `json:"reason"`
	// Kind is fine, unsupported or broken.
	Kind string `json:"kind"`
}

func planJSON(p compact.Plan) planObject {
	o := planObject{Tasks: make([]taskObject, 0, len(p.Tasks)), Left: make([]leftObject, 0, len(p.Left)), TableSettings: p.Own}
	for _, t := range p.Tasks {
		o.Tasks = append(o.Tasks, taskObject{Fragments: t.Fragments, Reason: t.Reason, Outputs: len(t.Outputs), OutputRows: append([]int64{}, t.Outputs...), Rows: t.Rows, Bytes: t.Bytes, Encoded: t.Encoded})
	}
	for _, l := range p.Left {
		o.Left = append(o.Left, leftObject{Fragment: l.Fragment, Reason: l.Reason, Kind: kindName(l.Kind)})
	}
	return o
}

func kindName(k compact.Kind) string {
	switch k {
	case compact.Unsupported:
		return "unsupported"
	case compact.Broken:
		return "broken"
	}
	return "fine"
}

type compactObject struct {
	Changed          bool   `json:"changed"`
	DryRun           bool   `json:"dry_run,omitempty"`
	FragmentsRemoved int    `json:"fragments_removed"`
	FragmentsAdded   int    `json:"fragments_added"`
	FilesRemoved     int    `json:"files_removed"`
	FilesAdded       int    `json:"files_added"`
	BytesWritten     int64  `json:"bytes_written"`
	Version          uint64 `json:"version,omitempty"`
	Preempted        string `json:"preempted,omitempty"`
	// Tasks that would be done; with -dry-run only.
	Tasks         []taskObject `json:"tasks,omitempty"`
	Left          []leftObject `json:"left"`
	TableSettings []string     `json:"table_settings,omitempty"`
	Error         string       `json:"error,omitempty"`
}

func compactJSON(r compact.Result, err error, dry bool) compactObject {
	plan := planJSON(r.Plan)
	o := compactObject{
		Changed: r.Changed, DryRun: dry,
		FragmentsRemoved: r.FragmentsRemoved, FragmentsAdded: r.FragmentsAdded,
		FilesRemoved: r.FilesRemoved, FilesAdded: r.FilesAdded, BytesWritten: r.BytesWritten,
		Version: r.Version, Preempted: r.Preempted, Left: plan.Left, TableSettings: plan.TableSettings, Error: errorText(err),
	}
	if dry {
		o.Tasks = plan.Tasks
	}
	return o
}

type cleanupObject struct {
	Changed            bool         `json:"changed"`
	DryRun             bool         `json:"dry_run,omitempty"`
	OldVersionsRemoved int          `json:"old_versions_removed"`
	BytesRemoved       int64        `json:"bytes_removed"`
	DataFilesRemoved   int          `json:"data_files_removed"`
	FilesRemoved       int          `json:"files_removed"`
	Versions           int          `json:"versions"`
	Removed            []uint64     `json:"removed"`
	Kept               []keptObject `json:"kept"`
	// Files that would go; with -dry-run only.
	Files []fileObject `json:"files,omitempty"`
	Error string       `json:"error,omitempty"`
}

type fileObject struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Reason string `json:"reason"`
}

type keptObject struct {
	Version uint64 `json:"version"`
	Reason  string `json:"reason"`
}

func cleanupJSON(r cleanup.Result, err error, dry bool) cleanupObject {
	o := cleanupObject{
		Changed: r.Changed, DryRun: dry,
		OldVersionsRemoved: r.OldVersionsRemoved, BytesRemoved: r.BytesRemoved,
		DataFilesRemoved: r.DataFilesRemoved, FilesRemoved: r.FilesRemoved,
		Versions: r.Versions, Removed: append([]uint64{}, r.Removed...),
		Kept: make([]keptObject, 0, len(r.Kept)), Error: errorText(err),
	}
	for _, f := range r.Files {
		o.Files = append(o.Files, fileObject{Name: f.Name, Size: f.Size, Reason: f.Reason})
	}
	for _, k := range r.Kept {
		o.Kept = append(o.Kept, keptObject{Version: k.Version, Reason: k.Reason})
	}
	return o
}

// failure is the object of a command that had nothing to show.
type failure struct {
	Changed bool   `json:"changed"`
	Error   string `json:"error"`
}

// fail returns err, after showing it as an object too where that is asked for.
func (t *target) fail(c *call, err error) error {
	if t.json && !errors.Is(err, ErrUsage) {
		return firstError(err, object(c.stdout, failure{Error: err.Error()}))
	}
	return err
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// firstError is the first one that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
