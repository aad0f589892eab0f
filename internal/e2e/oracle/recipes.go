package oracle

import (
	"maps"
	"slices"
	"testing"
)

// Recipe is what is known of a kind of table that Make can write.
type Recipe struct {
	Name string
	// About says in words what is special about it.
	About string
	// Merges: it is brought to where Lance's planner would.
	Merges bool
	// Files are the file versions that can hold it.
	Files []string
	// Since is the first release of Lance that can write it.
	Since int
	// Stable, when not nil: only with, or only without, stable row ids.
	Stable *bool
	// Refs: it holds absolute paths and can't be moved.
	Refs bool
	// Scans: Lance can count and scan what it has made.
	Scans bool
	// Refused: a feature flag of it is beyond this module.
	Refused bool
	// Compacts: Lance can read what its own compaction of it makes.
	Compacts bool
}

// Table varies a recipe. The zero value is what the release makes by default.
type Table struct {
	// FileVersion is "2.0", "2.1" or "2.2".
	FileVersion string
	// V1Names gives manifests their older names.
	V1Names bool
	// Stable asks for stable row ids.
	Stable bool
	// Fragments and Rows per fragment, where the recipe leaves a choice.
	Fragments, Rows int
	// Columns names column sets of values.py.
	Columns []string
	// Storage options, for tables that are not local.
	Storage map[string]string
}

// Recipes lists all recipes by name.
func (l *Lance) Recipes(tb testing.TB) []Recipe {
	tb.Helper()
	all := map[string]Recipe{}
	l.Do(tb, "catalogue", nil, &all)
	var out []Recipe
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		r.Name = name
		out = append(out, r)
	}
	return out
}

// Made is what Make tells about the table.
type Made struct {
	// Next is the first row number that was not given out.
	Next    int
	Version uint64
	// Rows is nil when Lance can't count them.
	Rows *int
}

// Make writes a table by a recipe.
func (l *Lance) Make(tb testing.TB, recipe, uri string, t Table) Made {
	tb.Helper()
	a := Args{"recipe": recipe, "uri": uri, "names": "V2", "stable": t.Stable}
	if t.V1Names {
		a["names"] = "V1"
	}
	if t.FileVersion != "" {
		a["version"] = t.FileVersion
	}
	if t.Fragments > 0 {
		a["fragments"] = t.Fragments
	}
	if t.Rows > 0 {
		a["rows"] = t.Rows
	}
	if len(t.Columns) > 0 {
		a["columns"] = t.Columns
	}
	if t.Storage != nil {
		a["storage_options"] = t.Storage
	}
	var m Made
	l.Do(tb, "make", a, &m)
	return m
}

// Compact has Lance compact the table.
func (l *Lance) Compact(tb testing.TB, uri string, target int64) {
	tb.Helper()
	a := Args{"uri": uri}
	if target > 0 {
		a["target_rows_per_fragment"] = target
	}
	l.Do(tb, "compact", a, nil)
}

// Plan returns the fragments of each compaction task that Lance would do.
func (l *Lance) Plan(tb testing.TB, uri string, target int64) [][]uint64 {
	tb.Helper()
	options := Args{}
	if target > 0 {
		options["target_rows_per_fragment"] = target
	}
	var tasks [][]uint64
	l.Do(tb, "plan", Args{"uri": uri, "options": options}, &tasks)
	return tasks
}

// FragmentRows returns the live rows of each fragment.
func (l *Lance) FragmentRows(tb testing.TB, uri string) []int {
	tb.Helper()
	var rows []int
	l.Do(tb, "fragments", Args{"uri": uri}, &rows)
	return rows
}

// OnTop has Lance append, delete, compact, build indices and query, as a user
// would next, with row numbers from start on. It fails the test when anything
// is off.
func (l *Lance) OnTop(tb testing.TB, uri string, start int, storage ...map[string]string) {
	tb.Helper()
	l.Do(tb, "on_top", with(Args{"uri": uri, "start": start}, storage), nil)
}

// Copy copies a directory with the times of its files.
func (l *Lance) Copy(tb testing.TB, from, to string) {
	tb.Helper()
	l.Do(tb, "copy", Args{"src": from, "dst": to}, nil)
}
