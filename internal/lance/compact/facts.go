package compact

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Facts are what a plan is made from.
type Facts struct {
	Version uint64
	// Fragments in ascending order of ids, which is the order of a scan.
	Fragments []Fragment
	// Own are the settings of the table itself, as Plan has them.
	Own []string
	// Refused says why nothing is to be done to the table; "" when that is for the fragments to say.
	Refused string
}

// Fragment is what planning looks at.
type Fragment struct {
	ID uint64
	// Rows that are stored, deleted ones included.
	Rows    uint64
	Deleted uint64
	// Bytes of its data files: by the manifest, 0 when that does not say; once they have been looked at, of what is
	// wanted of them.
	Bytes int64
	// Beside is how many bytes of blobs lie in files beside them, once they have been looked at.
	Beside int64
	// Layout is equal for fragments that hold the same of those columns that can't be filled or encoded anew.
	Layout string
	// Blocked says why the fragment can't be merged with any other; "" when it can.
	Blocked string
	Kind    Kind
	// seen: the files have been looked at; missing: one of them was not there.
	seen, missing bool
	// uncounted: how many of its rows are deleted is not known before it is seen.
	uncounted bool
	// agreed is what its pages and those of others have to agree on, once seen.
	agreed string
	// entry is what was looked at, counted the same with the numbers of rows that it does not say, and held
	// what it holds of each top-level field.
	entry, counted *pb.DataFragment
	held           []holding
}

// live are the rows that are kept.
func (f *Fragment) live() uint64 { return f.Rows - min(f.Deleted, f.Rows) }

// kept is live for sums.
func (f *Fragment) kept() int64 { return int64(min(f.live(), math.MaxInt64)) }

// stored is Rows for sums.
func (f *Fragment) stored() int64 { return int64(min(f.Rows, math.MaxInt64)) }

// liveBytes are the bytes of those that are kept.
func (f *Fragment) liveBytes() int64 { return scale(f.Bytes, f.kept(), f.stored()) }

// encoded tells whether its rows have to be decoded and encoded, as far as is known: for what is deleted of them, for what the
// new file can't hold of its pages, or because they are so few that pages are joined.
func (f *Fragment) encoded() bool {
	const small = 1 << 20 // of a column
	return f.Deleted > 0 || f.Bytes < small*int64(max(1, len(f.held))) || slices.ContainsFunc(f.held, func(h holding) bool { return h.why != "" && h.ids != "" })
}

// FactsOf takes the facts that a manifest holds. What only the data files tell
// is added by Survey.
func FactsOf(t *table.Table) Facts {
	f := Facts{Version: t.Version()}
	cov, covErr := coverageOf(t)
	columns := uncopyableColumn(t)
	live, sh := liveFields(t), shapeOf(t)
	for _, frag := range t.Fragments() {
		x := Fragment{ID: frag.GetId(), Rows: frag.GetPhysicalRows(), Deleted: frag.GetDeletionFile().GetNumDeletedRows()}
		for _, d := range frag.GetFiles() {
			x.Bytes = plus(x.Bytes, int64(min(d.GetFileSizeBytes(), math.MaxInt64)))
		}
		x.uncounted = frag.DeletionFile != nil && x.Deleted == 0
		x.Layout = layoutOf(frag, sh)
		x.Kind, x.Blocked = blockedBy(t, frag, live, cov, covErr, columns)
		f.Fragments = append(f.Fragments, x)
	}
	slices.SortStableFunc(f.Fragments, func(a, b Fragment) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return f
}

// blockedBy finds the first reason in the manifest why a fragment can't be merged.
func blockedBy(t *table.Table, f *pb.DataFragment, live map[int32]bool, cov []covering, covErr error, columns string) (Kind, string) {
	if n := unknownIn(f); n != "" {
		return Unsupported, "its entry has " + n + ", which this build does not know"
	}
	if covErr != nil {
		return Broken, covErr.Error()
	}
	for _, c := range cov {
		if c.Has(f.GetId()) {
			return Unsupported, fmt.Sprintf("index %q covers it, and would have to be remapped", c.name)
		}
	}
	if columns != "" {
		return Unsupported, columns
	}
	if _, err := table.LineageOf(f); err != nil {
		return Unsupported, err.Error()
	}
	held := 0
	for _, d := range f.GetFiles() {
		if v := table.DataFileVersion(d); !v.Supported() {
			return Unsupported, fmt.Sprintf("data file %s is of version %s; this build handles 2.0, 2.1 and 2.2", d.GetPath(), v)
		}
		for _, id := range d.GetFields() {
			if live[id] {
				held++
			}
		}
	}
	if held == 0 {
		return Unsupported, "it has no data file with a column of today's schema"
	}
	return Fine, ""
}

// layoutOf names those columns of today's schema that fragments must hold alike to be merged, as far as
// a fragment holds them.
func layoutOf(f *pb.DataFragment, sh *shape) string {
	held := make([][]int32, len(sh.fields))
	for _, d := range f.GetFiles() {
		for _, id := range d.GetFields() {
			if i, live := sh.top[id]; live {
				held[i] = append(held[i], sh.spelled(id, table.DataFileVersion(d))...)
			}
		}
	}
	var ids []int32
	for i, h := range held {
		x := &sh.fields[i]
		if x.strict != "" || x.whole && textOf(h) != textOf(x.ids) {
			ids = append(ids, h...)
		}
	}
	return textOf(ids)
}

// liveFields are the field ids of today's schema. Files keep the ids of columns
// that were dropped, and mark superseded ones with negative ids.
func liveFields(t *table.Table) map[int32]bool {
	live := make(map[int32]bool)
	for _, f := range t.Manifest().GetFields() {
		if f.GetId() >= 0 {
			live[f.GetId()] = true
		}
	}
	return live
}

// covering is an index that describes fragments.
type covering struct {
	table.Coverage
	name string
}

func coverageOf(t *table.Table) ([]covering, error) {
	var cov []covering
	for _, i := range t.Indices() {
		c, err := table.CoverageOf(i)
		if err != nil {
			return nil, err
		}
		cov = append(cov, covering{c, i.GetName()})
	}
	return cov, nil
}

// uncopyableColumn says which column of the schema stands in the way of copying
// pages, and why; "" when none does.
func uncopyableColumn(t *table.Table) string {
	for _, f := range t.Manifest().GetFields() {
		if k, l := table.MarkedBlob(f), f.GetLogicalType(); k == table.BlobV1 && l != "large_binary" || k == table.BlobV2 && l != "struct" {
			return fmt.Sprintf("column %q is marked as one of blobs, and is one of %s", f.GetName(), l)
		}
	}
	return ""
}

// unknownIn names an undecoded field of a fragment's entry or of one of its files'.
// Newer releases may keep rows there that a copy would lose.
func unknownIn(f *pb.DataFragment) string {
	messages := []struct {
		what string
		m    protoreflect.ProtoMessage
	}{{"fragment", f}, {"deletion file", f.GetDeletionFile()}}
	for _, d := range f.GetFiles() {
		messages = append(messages, struct {
			what string
			m    protoreflect.ProtoMessage
		}{"data file", d})
	}
	for _, m := range messages {
		if u := m.m.ProtoReflect().GetUnknown(); len(u) > 0 {
			n, _, _ := protowire.ConsumeTag(u)
			return fmt.Sprintf("%s field %d", m.what, n)
		}
	}
	return ""
}
