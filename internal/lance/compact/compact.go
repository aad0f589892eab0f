package compact

import (
	"context"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Plan is what would be done and, for every fragment that stays as it is, why.
type Plan struct {
	Tasks []Task
	Left  []Left
	// Own are the settings of the table that overrode those that were asked for: "target_rows_per_fragment=500".
	Own []string
}

// Task merges neighbouring fragments, or rewrites one without its deleted rows; it is committed by itself.
type Task struct {
	// Fragments are the ids of the sources, in order.
	Fragments []uint64
	// Outputs are the fragments that take their place, in order: how many of the rows that are kept each holds, which
	// is one at least. There is none when no row is kept.
	Outputs []int64
	// Rows that are kept.
	Rows int64
	// Bytes that are read: of data files, and Beside of them, of blobs in files beside these.
	Bytes, Beside int64
	// Encoded is how many of them would be decoded and encoded anew, the others copied: an estimate, rather too high.
	Encoded int64
	Reason  string
}

// Kind tells reasons apart by what an operator does about them.
type Kind int

const (
	// Fine: nothing is wrong with the fragment; it needs no work.
	Fine Kind = iota
	// Unsupported: it could be merged, but not by this build.
	Unsupported
	// Broken: its bytes can't be read or contradict the format.
	Broken
)

// Left is a fragment that stays as it is.
type Left struct {
	Fragment uint64
	Kind     Kind
	Reason   string
}

// Options of a Run.
type Options struct {
	// Policy is what is asked for; settings of the table itself override it.
	Policy Policy
	// MemoryBudget is how many bytes of memory a run takes at most, whatever the table; 0 means DefaultMemory. A single row that needs more is read nevertheless.
	MemoryBudget int64
	// DryRun plans and reports, and writes nothing.
	DryRun bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Pin, if set, is called for the version that a pass is about to read, before the
	// pass writes anything, and has the version and its files kept until release is
	// called. An error that is objects.ErrNotFound says that the version has
	// gone, and the run plans again on the newest; any other ends the run.
	Pin func(ctx context.Context, t *table.Table) (release func(), err error)
	// Bases, if set, opens the other roots in which files of the table lie. What has files in a root that can't
	// be reached is left alone.
	Bases table.BaseOpener
	// Progress, if set, is called while Run runs, by one goroutine at a time.
	Progress func(Progress)

	careful bool // see run
}

// Result of a Run. With an error it tells what had been done before.
type Result struct {
	// Plan is what the run set out to do; Left names also what turned out on the way to be none that can be merged.
	Plan Plan
	// Changed: the table has a new version.
	Changed          bool
	FragmentsRemoved int
	FragmentsAdded   int
	FilesRemoved     int
	FilesAdded       int
	BytesWritten     int64
	// Version after the run.
	Version uint64
	// Preempted, when not empty, says which other run was at work on what this
	// one had planned; that part was left to it.
	Preempted string
}
