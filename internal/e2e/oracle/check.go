package oracle

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// Grace is how long a file that no version names is taken for work in progress.
const Grace = 7 * 24 * time.Hour

// Change is what maintenance was allowed to do to a table.
type Change struct {
	// Fragments may be merged into new ones, in new versions.
	Fragments bool
	// Versions may be gone, with what only they needed; files that no version
	// names and that are older than Grace must be gone.
	Versions bool
	// Unordered: several processes merged at once, and each got ids of its own for
	// its tasks, so that the order of tasks is not kept.
	Unordered bool
	// Lance did it: metadata may have been written anew.
	Lance bool
	// Spared are files that may stay though no version names them.
	Spared func(name string) bool
}

// What the jobs may do.
var (
	Compacted = Change{Fragments: true}
	Cleaned   = Change{Versions: true}
	Both      = Change{Fragments: true, Versions: true}
	Nothing   = Change{}
)

// Check reads the table again and asserts what must hold after any maintenance
// of a table that nobody else wrote to:
//
//   - FULL and DEL: the same rows with the same values; in the same order but
//     for merged fragments, whose rows come where the new ids sort.
//   - ROWID: the same row ids and versions for the same rows; marks never fall.
//   - REF: Lance opens, validates and scans; schema, field ids and all metadata are as before.
//   - OLD: every version, tag and branch that is left is as it was, and none is
//     gone that had to stay.
//   - FILES: everything that a version names is there, and nothing new that none names.
//
// It returns the new snapshot.
func (l *Lance) Check(tb testing.TB, before *Snapshot, c Change, storage ...map[string]string) *Snapshot {
	tb.Helper()
	return l.CheckThat(tb, "", before, c, storage...)
}

// CheckThat is Check in a loop: what goes before each complaint says where.
func (l *Lance) CheckThat(tb testing.TB, where string, before *Snapshot, c Change, storage ...map[string]string) *Snapshot {
	tb.Helper()
	after := &Snapshot{}
	past := slices.AppendSeq([]string{}, maps.Keys(before.History))
	l.Do(tb, "snapshot", with(Args{"uri": before.URI, "also": past}, storage), after)
	after.URI = before.URI
	if where != "" {
		where += ": "
	}
	for _, problem := range Compare(before, after, c) {
		tb.Error(where + problem)
	}
	return after
}

// Compare lists what Check would complain of.
func Compare(before, after *Snapshot, c Change) []string {
	p := &problems{}
	p.rows(before, after, c)
	p.meta(before, after, c)
	p.old(before, after, c)
	if before.Disk != nil {
		p.marks(before.Newest(), after.Newest())
		p.files(before, after, c)
	}
	return *p
}

type problems []string

func (p *problems) rows(before, after *Snapshot, c Change) {
	if before.Fold.Set != after.Fold.Set {
		p.addf("FULL: %v became %v", before.Fold, after.Fold)
		if before.Fold.Rows == after.Fold.Rows {
			for _, n := range slices.Sorted(maps.Keys(before.Columns)) {
				if before.Columns[n] != after.Columns[n] {
					p.addf("FULL: column %s differs", n)
				}
			}
		}
		return
	}
	was, is := byID(before.Fragments), byID(after.Fragments)
	gone, made, goneIDs, madeIDs := empty, empty, empty, empty
	for _, f := range before.Fragments {
		if _, ok := is[f.ID]; !ok {
			gone = gone.Then(f.Fold)
			goneIDs = goneIDs.Then(lineage(f))
		}
	}
	for _, f := range after.Fragments {
		old, ok := was[f.ID]
		if !ok {
			made = made.Then(f.Fold)
			madeIDs = madeIDs.Then(lineage(f))
			continue
		}
		if old.Fold != f.Fold || lineage(old) != lineage(f) {
			p.addf("FULL: fragment %d: %v became %v", f.ID, old.Fold, f.Fold)
		}
	}
	if !c.Fragments && made.Rows+gone.Rows > 0 {
		p.addf("FULL: fragments changed: %v became %v", before.Rows(), after.Rows())
	}
	if c.Unordered {
		made.Order, gone.Order, madeIDs.Order, goneIDs.Order = "", "", "", ""
	}
	if made != gone {
		p.addf("FULL: rows of merged fragments changed order: %v became %v", gone, made)
	}
	if madeIDs != goneIDs {
		p.addf("ROWID: row ids or versions of merged fragments changed: %v became %v", goneIDs, madeIDs)
	}
}

func (p *problems) meta(before, after *Snapshot, c Change) {
	p.same("REF: schema", before.Schema, after.Schema)
	p.same("REF: config", before.Config, after.Config)
	p.same("REF: table metadata", before.Metadata, after.Metadata)
	p.same("REF: file version", before.FileVersion, after.FileVersion)
	p.same("REF: stable row ids", before.Stable, after.Stable)
	if !c.Lance {
		p.same("REF: indices", before.Indices, after.Indices)
	}
	if after.Version < before.Version || (after.Version > before.Version && !c.Fragments) {
		p.addf("REF: version %d became %d", before.Version, after.Version)
	}
	if before.Disk == nil || c.Lance {
		return
	}
	was, is := before.Newest(), after.Newest()
	p.same("REF: encoded schema", was.Schema, is.Schema)
	if is.ReaderFlags&^was.ReaderFlags != 0 || is.WriterFlags&^was.WriterFlags != 0 {
		p.addf("REF: feature flags %d/%d became %d/%d", was.ReaderFlags, was.WriterFlags, is.ReaderFlags, is.WriterFlags)
	}
}

func (p *problems) marks(was, is Manifest) {
	if is.NextRowID != was.NextRowID {
		p.addf("ROWID: next row id %d became %d", was.NextRowID, is.NextRowID)
	}
	if was.MaxFragmentID != nil && (is.MaxFragmentID == nil || *is.MaxFragmentID < *was.MaxFragmentID) {
		p.addf("ROWID: highest fragment id fell")
	}
	if wide(was.File) != wide(is.File) {
		p.addf("REF: manifest naming changed from %s to %s", was.File, is.File)
	}
}

func (p *problems) old(before, after *Snapshot, c Change) {
	tags := lasting(before.Tags)
	p.same("OLD: tags", tags, lasting(after.Tags))
	p.same("OLD: branches", before.Branches, after.Branches)
	for _, v := range slices.Sorted(maps.Keys(before.History)) {
		is, ok := after.History[v]
		if ok && !reflect.DeepEqual(before.History[v], is) {
			p.addf("OLD: version %s: %v became %v", v, before.History[v].Fold, is.Fold)
		}
	}
	for branch, was := range before.Listed {
		for _, v := range was {
			if !c.Versions && !slices.Contains(after.Listed[branch], v) {
				p.addf("OLD: version %d of %q is gone", v, branch)
			}
		}
	}
	for kind, refs := range map[string]map[string]Ref{"tag": tags, "branch": before.Branches} {
		for name, r := range refs {
			if !slices.Contains(after.Listed[r.Branch], r.Version) {
				p.addf("OLD: version %d of %q, which %s %s points to, is gone", r.Version, r.Branch, kind, name)
			}
		}
	}
}

// lasting are the tags but for those of leases, which come and go.
func lasting(tags map[string]Ref) map[string]Ref {
	out := maps.Clone(tags)
	maps.DeleteFunc(out, func(name string, _ Ref) bool {
		_, lease := pin.ParseTag(name)
		return lease
	})
	return out
}

func (p *problems) files(before, after *Snapshot, c Change) {
	for _, m := range after.Manifests {
		if m.Error != "" {
			p.addf("FILES: %s: %s", m.File, m.Error)
		}
	}
	for _, m := range after.Missing() {
		p.addf("FILES: missing: %s", m)
	}
	known := map[string]bool{}
	for _, f := range before.Unnamed() {
		known[f] = true
	}
	for _, f := range after.Unnamed() {
		switch {
		case c.Spared != nil && c.Spared(f):
		case !known[f]:
			p.addf("FILES: nothing names %s", f)
		case c.Versions && time.Since(after.Disk[f].Time) > Grace && recognised(f):
			p.addf("FILES: nothing names %s, which is old", f)
		}
	}
	for f := range after.Disk {
		if strings.HasPrefix(f, "_maintenance/") && (c.Spared == nil || !c.Spared(f)) {
			p.addf("OWN: %s is left", f)
		}
	}
	for f, was := range before.Disk {
		is, ok := after.Disk[f]
		switch {
		case strings.HasPrefix(f, "_maintenance/"), path.Base(f) == "latest_version_hint.json":
		case ok && is.Size != was.Size:
			p.addf("FILES: %s: %d bytes became %d", f, was.Size, is.Size)
		case ok:
		case !c.Versions, !recognised(f):
			p.addf("FILES: %s is gone", f)
		case known[f] && time.Since(was.Time) < Grace-time.Hour:
			p.addf("FILES: %s is gone, which may be somebody's work in progress", f)
		}
	}
}

// recognised tells whether a cleanup takes such a file once it is old.
func recognised(name string) bool {
	switch kind(name) {
	case "_versions":
		return strings.HasSuffix(name, ".manifest")
	case "data":
		return strings.HasSuffix(name, ".lance") || strings.HasSuffix(name, ".blob")
	case "_deletions":
		return strings.HasSuffix(name, ".arrow") || strings.HasSuffix(name, ".bin")
	case "_transactions":
		return strings.HasSuffix(name, ".txn")
	case "_indices":
		return strings.Count(name, "/") >= 2
	}
	return false
}

func byID(frags []Fragment) map[uint64]Fragment {
	out := map[uint64]Fragment{}
	for _, f := range frags {
		out[f.ID] = f
	}
	return out
}

// wide tells the newer manifest names, of 20 digits, from the older ones.
func wide(manifest string) bool {
	return len(path.Base(manifest)) == len("18446744073709551614.manifest")
}

func lineage(f Fragment) Fold {
	if f.Lineage == nil {
		return empty
	}
	return *f.Lineage
}
