package cleanup

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Policy says which versions are due: those that are older than Retain and
// not among the newest MinVersions. Tagged and branched-from versions stay.
type Policy struct {
	// Retain is the age up to which every version is kept; 0 keeps none for its age.
	Retain time.Duration
	// MinVersions is how many of the newest versions are kept whatever their
	// age; values below 1 mean 1.
	MinVersions int
}

// The keys under which a table says itself what is to be kept, for Lance's own cleanup after commits. Whether and how often
// that takes place is of no interest here.
const (
	configRetain      = "lance.auto_cleanup.older_than"
	configMinVersions = "lance.auto_cleanup.retain_versions"
)

// with is the policy that keeps whatever one of the two does.
func (p Policy) with(q Policy) Policy {
	return Policy{Retain: max(p.Retain, q.Retain), MinVersions: max(atLeastOne(p.MinVersions), q.MinVersions)}
}

// ownPolicy is what a version of the table asks to be kept. One that can't be read is refused.
func ownPolicy(t *table.Table) (Policy, error) {
	c := t.Config()
	retain, _, err := c.Duration(configRetain)
	if err != nil {
		return Policy{}, fmt.Errorf("%s: %w: %w", t.Ref().Name, table.ErrRefused, err)
	}
	n, _, err := c.Count(configMinVersions)
	if err != nil {
		return Policy{}, fmt.Errorf("%s: %w: %w", t.Ref().Name, table.ErrRefused, err)
	}
	return Policy{Retain: retain, MinVersions: int(min(n, math.MaxInt32))}, nil
}

// Options of a Run.
type Options struct {
	// Policy is what is asked for. A table that says itself that more is to be kept has more kept.
	Policy Policy
	// DryRun reports what would go and removes nothing.
	DryRun bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Abandoned tells which tags pin nothing any more: a run removes them first. One
	// that can't be removed pins as before. Nil means that none is abandoned.
	Abandoned func(tag string) bool
	// Parallel bounds the deletes in flight; 0 means 16.
	Parallel int
	// Progress, if set, is called with how many of the objects are gone. Calls
	// don't overlap.
	Progress func(done, total int)
	// Wait waits before a delete that failed is tried again; nil waits by the clock.
	Wait func(context.Context, time.Duration) error
}

// File is an object that would go.
type File struct {
	Name   string
	Size   int64
	Reason string
}

// Kept is a version that would be due but stays.
type Kept struct {
	Version uint64
	Reason  string
}

// Result of a Run. With an error it tells what had been done before.
type Result struct {
	// Policy is what the run went by: the one that was asked for and the table's own.
	Policy Policy
	// Changed: the table lost a version or a file.
	Changed            bool
	OldVersionsRemoved int
	BytesRemoved       int64
	DataFilesRemoved   int
	FilesRemoved       int
	// TagsRemoved counts the abandoned ones.
	TagsRemoved int
	// Removed are the versions that went, or with DryRun would go.
	Removed []uint64
	// Files are the objects that would go, manifests included; set with DryRun only.
	Files []File
	Kept  []Kept
	// Versions that are left.
	Versions int
}

// Detection is what a cheap look at the table says.
type Detection struct {
	// Due: a run now would remove at least one version, or finish what another
	// run left behind.
	Due      bool
	Versions int
	Newest   uint64
	// Reason in words, whether due or not.
	Reason string
}
