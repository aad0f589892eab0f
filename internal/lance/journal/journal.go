// Package journal records what a job is about to write or remove, inside the
// table, before it does so. Whoever comes after a crash can then tell garbage from
// files that somebody may still commit. Lance leaves the directory alone.
//
// Each record is one object of _maintenance:
//
//	rewrite-{uuid}.json   output of a job that replaces fragments
//	reserve-{uuid}.json   the same, for the commit that reserves fragment ids
//	cleanup-{uuid}.json   versions that leave and the files that leave with them
//
// # Rewrite and reserve
//
// The record names every object that the job will create, but for the files of blobs
// that lie beside a data file, for which the data file's name stands, and which fragments
// of which version its commit replaces. The job removes it when its commit has
// succeeded, or has certainly failed and its output is gone. Anybody else may
// remove it, and the output that no manifest names, once the newest version no
// longer holds all of those fragments: then no commit of it can succeed any
// more. Until then the output is like any unverified file. A record also is
// its writer's claim on the fragments: see Alive.
//
// # Cleanup
//
// The record holds the manifests that leave, byte for byte, and the names of
// the files that only they name. It is finished by whoever finds it: versions that a
// tag or a branch names are published again, files that no manifest names are
// removed, then the record.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Dir is where the records lie.
const Dir = "_maintenance"

// format is the version of the records' content; others are left alone.
const format = 1

// maxRecord bounds the size of a record: see cleanup's batches for the largest.
const maxRecord = 1 << 30

// Kind of a record; on disk as the first part of its name.
type Kind string

// The kinds of records.
const (
	Rewrite Kind = "rewrite"
	Reserve Kind = "reserve"
	Cleanup Kind = "cleanup"
)

// Record is one entry of the journal.
type Record struct {
	Format int       `json:"format"`
	Kind   Kind      `json:"kind"`
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Holder Holder    `json:"holder"`

	// Version is the one that the job was planned on.
	Version uint64 `json:"version"`
	// Fragments that a rewrite replaces, all of which must be in the newest
	// version for its commit to succeed.
	Fragments []uint64 `json:"fragments,omitempty"`
	// Files that a rewrite creates or that a cleanup removes.
	Files []string `json:"files,omitempty"`
	// Manifests that a cleanup removes.
	Manifests []Manifest `json:"manifests,omitempty"`

	// ModTime is when the record was last written, by the store's clock; it is
	// not stored.
	ModTime time.Time `json:"-"`
}

// Manifest is a version's manifest object, to be published again when somebody
// turns out to need it.
type Manifest struct {
	Version uint64 `json:"version"`
	Name    string `json:"name"`
	Content []byte `json:"content"`
}

// New makes a record of this process.
func New(k Kind, now time.Time) *Record {
	return &Record{Format: format, Kind: k, ID: uuid.NewString(), Time: now.UTC(), Holder: self()}
}

// Name is the record's object name.
func (r *Record) Name() string { return fmt.Sprintf("%s/%s-%s.json", Dir, r.Kind, r.ID) }

// Write creates the record. After ErrUnknown it may be there or not, and
// nothing that it names must have been touched.
func (r *Record) Write(ctx context.Context, s objects.Store) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", r.Name(), err)
	}
	if err := s.Publish(ctx, r.Name(), b); err != nil {
		return fmt.Errorf("writing %s: %w", r.Name(), err)
	}
	return nil
}

// Touch writes the record again, so that others see its writer at work.
func (r *Record) Touch(ctx context.Context, s objects.Store) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", r.Name(), err)
	}
	return s.Replace(ctx, r.Name(), b)
}

// Remove removes the record.
func (r *Record) Remove(ctx context.Context, s objects.Store) error {
	if err := s.Delete(ctx, r.Name()); err != nil {
		return fmt.Errorf("removing %s: %w", r.Name(), err)
	}
	return nil
}

// List reads all records. What is not a record of this format is left out: it
// is somebody else's. A record that is removed while the list is made is left
// out too.
func List(ctx context.Context, s objects.Store) ([]*Record, error) {
	var records []*Record
	err := objects.All(ctx, s, Dir, func(e objects.Entry) error {
		kind, id, ok := parseName(e.Name)
		if !ok || e.Dir {
			return nil
		}
		b, _, err := objects.ReadAll(ctx, s, Dir+"/"+e.Name, maxRecord)
		if errors.Is(err, objects.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s/%s: %w", Dir, e.Name, err)
		}
		r := new(Record)
		if json.Unmarshal(b, r) != nil || r.Format != format || r.Kind != kind || r.ID != id {
			return nil
		}
		for _, f := range r.Files {
			if objects.CheckName(f) != nil {
				return nil
			}
		}
		r.ModTime = e.ModTime
		records = append(records, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", Dir, err)
	}
	return records, nil
}

func parseName(name string) (Kind, string, bool) {
	stem, ok := strings.CutSuffix(name, ".json")
	kind, id, dash := strings.Cut(stem, "-")
	if !ok || !dash {
		return "", "", false
	}
	switch Kind(kind) {
	case Rewrite, Reserve, Cleanup:
	default:
		return "", "", false
	}
	_, err := uuid.Parse(id)
	return Kind(kind), id, err == nil
}
