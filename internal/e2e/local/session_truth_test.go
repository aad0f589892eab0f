package local_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// The tables of these tests are functions: what is in a version follows from which table of which
// place it is and how many steps it has behind it. Every value says in which step it was
// written, for which table, so that a wrong one shows wherever it comes from.

const (
	// partRows are written by a step that writes.
	partRows = 20
	// An id is (place * tablesOf + table) * perTable + step * perStep + row.
	tablesOf, perTable, perStep = 10_000, 10_000, 100
)

// stepsOf has the steps as Python makes them, and reads what came of one.
const stepsOf = `
import shutil
import pyarrow as pa

S = pa.struct([("a", pa.int64()), ("b", pa.string())])
FIELDS = [("id", pa.int64()), ("text", pa.string()), ("f", pa.float64()), ("l", pa.list_(pa.int32())), ("s", S)]

def row(i):
    return {"id": i, "text": "row %d of table %d" % (i, i // 10000), "f": None if i % 7 == 0 else i / 4,
            "l": [i % 100, i // 100 % 100, 5][: i % 4], "s": {"a": -i, "b": "%x" % i}}

def part():
    schema = pa.schema(FIELDS, metadata={"seaweedfs.table_id": str(base)} if marked else None)
    return pa.Table.from_pylist([row(base + step * 100 + i) for i in range(20)], schema=schema)

if kind == "make":
    lance.write_dataset(part(), uri, mode="create")
elif kind == "append":
    lance.write_dataset(part(), uri, mode="append")
elif kind == "delete":
    lance.dataset(uri).delete("id %% 10 < 3 and id >= %d" % (base + step * 100 - 250))
elif kind == "compact":
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=1000, num_threads=1)
elif kind == "index":
    lance.dataset(uri).create_scalar_index("id", "BTREE")
ds = lance.dataset(uri)
rows = ds.to_table().to_pylist()
for r in rows:
    if r != row(r["id"]):
        raise AssertionError("pylance reads %r" % r)
result = {"version": ds.version, "ids": [r["id"] for r in rows]}
`

// kindOf is what the n-th step of a table does; the first makes it.
func kindOf(place, n int) string {
	switch {
	case n == 1:
		return "make"
	case n == 2 && place%4 == 0:
		return "index"
	case n%7 == 4:
		return "delete"
	case n%7 == 0:
		return "compact"
	}
	return "append"
}

// idsAfter are the ids, less those of the table, that are there after n steps.
func idsAfter(place, n int) (ids []int64) {
	for step := int64(1); step <= int64(n); step++ {
		switch kindOf(place, int(step)) {
		case "make", "append":
			for i := range int64(partRows) {
				ids = append(ids, step*perStep+i)
			}
		case "delete":
			ids = slices.DeleteFunc(ids, func(id int64) bool { return id%10 < 3 && id >= step*perStep-250 })
		}
	}
	return ids
}

// idIn is the id of a row by one of its values, -1 where it has none that tells.
func idIn(column arrow.Array, i int) int64 {
	var text string
	base := 10
	switch c := column.(type) {
	case *array.Int64:
		return c.Value(i)
	case *array.String:
		text, _, _ = strings.Cut(strings.TrimPrefix(c.Value(i), "row "), " ")
	case *array.Struct:
		text, base = c.Field(c.NumField()-1).ValueStr(i), 16
	}
	id, err := strconv.ParseInt(text, base, 64)
	if err != nil {
		return -1
	}
	return id
}

// wrong compares a value with what the row of that id has in that column; "" when it is right.
func wrong(name string, column arrow.Array, i int, id int64) string {
	got, want := "", ""
	switch c := column.(type) {
	case *array.Int64:
		got, want = fmt.Sprint(c.Value(i)), fmt.Sprint(id)
		if name == "a" {
			want = fmt.Sprint(-id)
		}
	case *array.String:
		got, want = c.Value(i), fmt.Sprintf("row %d of table %d", id, id/perTable)
		if name == "b" {
			want = strconv.FormatInt(id, 16)
		}
	case *array.Float64:
		got, want = fmt.Sprint(c.Value(i)), fmt.Sprint(float64(id)/4)
		if c.IsNull(i) {
			got = "null"
		}
		if id%7 == 0 {
			want = "null"
		}
	case *array.List:
		from, to := c.ValueOffsets(i)
		got = fmt.Sprint(c.ListValues().(*array.Int32).Int32Values()[from:to])
		want = fmt.Sprint([]int32{int32(id % 100), int32(id / 100 % 100), 5}[:min(id%4, 3)])
	case *array.Struct:
		for f := range c.NumField() {
			if bad := wrong(c.DataType().(*arrow.StructType).Field(f).Name, c.Field(f), i, id); bad != "" {
				return bad
			}
		}
	default:
		return fmt.Sprintf("column %s is of type %s", name, column.DataType())
	}
	if got != want {
		return fmt.Sprintf("%s is %q and not %q", name, got, want)
	}
	return ""
}
