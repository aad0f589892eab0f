package scan

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
)

// Every row of every table is what pylance reads, in full and in parts.
func TestScanLikePylance(t *testing.T) {
	for _, name := range fixtureNames(t) {
		t.Run(name, func(t *testing.T) {
			tab, want := openFixture(t, name), expected(t, name)
			o := everyRowColumn(Options{Bases: beside(t), BlobBytes: strings.HasSuffix(name, "_bytes")})
			schema, batches, err := scanAll(t, tab, o)
			if err != nil {
				t.Fatal(err)
			}
			check(t, schema, batches, want, 0, want.NumRows())
			for i, f := range want.Schema().Fields() {
				if g := schema.Field(i); g.Name != f.Name || g.Nullable != f.Nullable {
					t.Errorf("column %d is %v, want %v", i, g, f)
				}
			}
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			for range 20 {
				o.Offset = r.Uint64N(uint64(want.NumRows()) + 2)
				n := r.Uint64N(uint64(want.NumRows()) + 2)
				o.Limit, o.BatchRows, o.Threads = &n, 1+r.IntN(30), 1+r.IntN(3)
				schema, batches, err := scanAll(t, tab, o)
				if err != nil {
					t.Fatal(err)
				}
				from := min(int64(o.Offset), want.NumRows())
				check(t, schema, batches, want, from, min(int64(n), want.NumRows()-from))
			}
		})
	}
}

// leavesOf are the names of a type's leaves, as Columns takes them.
func leavesOf(path string, t arrow.DataType) (out []string) {
	switch t := t.(type) {
	case *arrow.StructType:
		for _, f := range t.Fields() {
			out = append(out, leavesOf(path+"."+f.Name, f.Type)...)
		}
	case *arrow.MapType:
		return leavesOf(path, t.Elem().(*arrow.StructType).Field(1).Type)
	case arrow.ListLikeType:
		return leavesOf(path, t.Elem())
	}
	if len(out) == 0 {
		return []string{path}
	}
	return out
}

// Any selection of leaves is what a full scan has of them.
func TestProjections(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, name := range []string{"nested", "rewritten", "packed_21", "packed_22", "mixed", "shared_columns_changed", "shared_types_20", "shared_types_21", "shared_types_22"} {
		t.Run(name, func(t *testing.T) {
			tab, want := openFixture(t, name), expected(t, name)
			var all []string
			for _, f := range want.Schema().Fields() {
				if strings.HasPrefix(f.Name, "_row") {
					continue
				}
				all = append(all, leavesOf(f.Name, f.Type)...)
				all = append(all, f.Name)
			}
			selections := [][]string{all}
			for _, x := range all {
				selections = append(selections, []string{x})
			}
			for range 40 {
				var some []string
				for range 1 + r.IntN(4) {
					some = append(some, all[r.IntN(len(all))])
				}
				selections = append(selections, some)
			}
			for _, columns := range selections {
				schema, batches, err := scanAll(t, tab, Options{Columns: columns, BatchRows: 1 + r.IntN(40)})
				if err != nil {
					if strings.Contains(err.Error(), "no column") && strings.Contains(strings.Join(columns, " "), "map.") {
						continue
					}
					t.Fatalf("%q: %v", columns, err)
				}
				got := joined(t, schema, batches)
				for i, f := range schema.Fields() {
					k := want.Schema().FieldIndices(f.Name)[0]
					w := array.MakeFromData(pruned(want.Column(k).Data(), f.Type))
					if d := lancetest.Difference(got.Column(i), 0, w, 0, int(want.NumRows())); d != "" {
						t.Errorf("%q: column %q: %s", columns, f.Name, d)
					}
				}
			}
		})
	}
}

// Metadata of fields and of the schema come through. Where pylance leaves some of it out of
// blob columns, it is there nevertheless.
func TestSchemaMetadata(t *testing.T) {
	for _, name := range []string{"shared_configured", "shared_types_22", "packed_22", "blob_22", "blob_21", "blob_22_bytes", "blob_21_bytes"} {
		tab, want := openFixture(t, name), expected(t, name).Schema()
		schema, _, err := scanAll(t, tab, everyRowColumn(Options{Bases: beside(t), BlobBytes: strings.HasSuffix(name, "_bytes")}))
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(schema.Metadata().ToMap(), want.Metadata().ToMap()) {
			t.Errorf("%s: metadata %v, want %v", name, schema.Metadata(), want.Metadata())
		}
		for i, f := range want.Fields() {
			got := schema.Field(i)
			meta := got.Metadata.ToMap()
			for k := range meta {
				if strings.HasPrefix(name, "blob_22") && strings.HasSuffix(k, "threshold") {
					delete(meta, k)
				}
			}
			wanted := f.Metadata.ToMap()
			for k := range wanted {
				if strings.HasPrefix(name, "blob_22") && (strings.HasPrefix(k, keyPrefixExtension) || strings.HasSuffix(k, "threshold")) {
					delete(wanted, k)
				}
			}
			if !maps.Equal(meta, wanted) || !arrow.TypeEqual(got.Type, f.Type) {
				t.Errorf("%s: %v, want %v", name, got, f)
			}
		}
	}
}
