package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
)

// schemaDiff compares the schema of a scan with the wanted one: names and order, types, what may be null,
// metadata. A projection is compared as far as it goes.
func schemaDiff(w *Want, got *arrow.Schema, o scan.Options) error {
	var order, wanted []string
	for _, g := range got.Fields() {
		i := w.Schema.FieldIndices(g.Name)
		if len(i) != 1 {
			return fmt.Errorf("schema: column %s is not wanted", g.Name)
		}
		f := w.Schema.Field(i[0])
		if strings.HasPrefix(g.Name, "_row") {
			// Columns of the scan itself: their place is its own affair.
			if !arrow.TypeEqual(f.Type, g.Type) {
				return fmt.Errorf("schema: column %s is of type %v, want %v", g.Name, g.Type, f.Type)
			}
			continue
		}
		order = append(order, g.Name)
		if err := fieldDiff(f, g, o.Columns != nil); err != nil {
			return fmt.Errorf("schema: column %s: %w", f.Name, err)
		}
	}
	if o.Columns != nil {
		return nil
	}
	for _, f := range w.Schema.Fields() {
		if !strings.HasPrefix(f.Name, "_row") {
			wanted = append(wanted, f.Name)
		}
	}
	if !slices.Equal(order, wanted) {
		return fmt.Errorf("schema: columns %v, want %v", order, wanted)
	}
	return nil
}

func fieldDiff(want, got arrow.Field, partial bool) error {
	if want.Nullable != got.Nullable {
		return fmt.Errorf("%s: may be null: %v, want %v", want.Name, got.Nullable, want.Nullable)
	}
	for i, k := range want.Metadata.Keys() {
		// No value and an empty one are the same to an extension type.
		if v, ok := got.Metadata.GetValue(k); !ok && want.Metadata.Values()[i] != "" || v != want.Metadata.Values()[i] {
			return fmt.Errorf("%s: metadata %s is %q, want %q", want.Name, k, v, want.Metadata.Values()[i])
		}
	}
	for _, k := range got.Metadata.Keys() {
		// Lance leaves away what steers the writing of blobs.
		if _, ok := want.Metadata.GetValue(k); !ok && !strings.HasPrefix(k, "ARROW:extension:") && !strings.HasPrefix(k, "lance-encoding:blob-") {
			return fmt.Errorf("%s: metadata %s is not wanted", want.Name, k)
		}
	}
	return typeDiff(want.Type, got.Type, partial)
}

func typeDiff(want, got arrow.DataType, partial bool) error {
	if e, ok := want.(arrow.ExtensionType); ok {
		want = e.StorageType()
	}
	if e, ok := got.(arrow.ExtensionType); ok {
		got = e.StorageType()
	}
	if want.ID() != got.ID() {
		return fmt.Errorf("type %v, want %v", got, want)
	}
	w, nested := want.(arrow.NestedType)
	if !nested {
		if !arrow.TypeEqual(want, got) {
			return fmt.Errorf("type %v, want %v", got, want)
		}
		return nil
	}
	g := got.(arrow.NestedType)
	if want.ID() == arrow.FIXED_SIZE_LIST && want.(*arrow.FixedSizeListType).Len() != got.(*arrow.FixedSizeListType).Len() {
		return fmt.Errorf("type %v, want %v", got, want)
	}
	byName := map[string]arrow.Field{}
	for _, f := range w.Fields() {
		byName[f.Name] = f
	}
	if len(byName) != len(g.Fields()) && !partial {
		return fmt.Errorf("type %v, want %v", got, want)
	}
	for _, f := range g.Fields() {
		want, ok := byName[f.Name]
		if !ok {
			return fmt.Errorf("field %s is not wanted", f.Name)
		}
		if err := fieldDiff(want, f, partial); err != nil {
			return err
		}
	}
	return nil
}
