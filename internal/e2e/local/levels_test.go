package local_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// pairsOfLevels writes, for each pair of ways in which values can be null or empty, a
// table of two fragments, one of each.
const pairsOfLevels = `
import itertools, os
kind = {
    "struct<list>": (pa.struct([("d", pa.list_(pa.int64()))]), lambda l: {"d": l}),
    "struct<list<struct>>": (pa.struct([("d", pa.list_(pa.struct([("q", pa.int64())])))]),
                             lambda l: {"d": None if l is None else [{"q": x} for x in l]}),
    "struct<map>": (pa.struct([("d", pa.map_(pa.string(), pa.int64()))]),
                    lambda l: {"d": None if l is None else [(str(i), x) for i, x in enumerate(l)]}),
    "list<struct<list>>": (pa.list_(pa.struct([("d", pa.list_(pa.int64()))])), lambda l: [{"d": l}, None]),
    "list<list>": (pa.list_(pa.list_(pa.int64())), lambda l: [l, [7]]),
}
type, wrap = kind[name]
ways = {
    "full": [wrap([1, 2]), wrap([3])],
    "null": [None, wrap([3])],
    "null list": [wrap(None), wrap([3])],
    "empty list": [wrap([]), wrap([3])],
    "null item": [wrap([None, 1]), wrap([2])],
    "all null": [None, None],
    "all null lists": [wrap(None), wrap(None)],
    "all empty": [wrap([]), wrap([])],
    "null and null list": [None, wrap(None)],
}
result = []
for (a, x), (b, y) in itertools.combinations(ways.items(), 2):
    uri = os.path.join(root, f"{a}, {b}")
    for mode, rows in (("create", x), ("append", y)):
        lance.write_dataset(pa.table({"v": pa.array(rows, type)}), uri, mode=mode, data_storage_version=version)
    result.append(uri)
`

// TestCompactLevels merges fragments that differ in which levels of nesting hold
// nulls; 2.0 has no null structs. Lance can't read every such pair out of one file if it comes from copied pages; what we make of it, it reads.
func TestCompactLevels(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, c := range []struct {
		kind     string
		versions []string
	}{
		{"struct<list>", []string{"2.1", "2.2"}},
		{"struct<list<struct>>", []string{"2.1", "2.2"}},
		{"struct<map>", []string{"2.2"}},
		{"list<struct<list>>", []string{"2.1", "2.2"}},
		{"list<list>", []string{"2.1", "2.2"}},
	} {
		if !full() {
			c.versions = c.versions[len(c.versions)-1:]
		}
		for _, v := range c.versions {
			t.Run(fmt.Sprintf("%s in %s", c.kind, v), func(t *testing.T) {
				var tables []string
				lance.Do(t, "run", oracle.Args{"code": pairsOfLevels, "root": t.TempDir(), "name": c.kind, "version": v}, &tables)
				merged := 0
				for _, dir := range tables {
					before := lance.Snapshot(t, dir)
					merged += compactNow(t, dir, 0).FragmentsAdded
					lance.CheckThat(t, filepath.Base(dir), before, oracle.Compacted)
				}
				if merged != len(tables) {
					t.Errorf("%d of %d pairs were merged", merged, len(tables))
				}
			})
		}
	}
}
