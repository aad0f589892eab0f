package array

import (
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// bytesOf is what the buffers of an array take.
func bytesOf(d arrow.ArrayData) int64 {
	var n int64
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, k := range d.Children() {
		n += bytesOf(k)
	}
	if _, ok := column.Storage(d.DataType()).(*arrow.DictionaryType); ok {
		n += bytesOf(d.Dictionary())
	}
	return n
}

func TestLimit(t *testing.T) {
	eachColumn(t, func(t *testing.T, fx *fixture, field column.Field, _ []string) {
		r, err := Open(fx.file, field)
		if err != nil {
			t.Fatal(err)
		}
		src := &source{b: fx.raw}
		a, err := r.Read(t.Context(), src, 0, r.Rows(), enough)
		if err != nil {
			t.Fatal(err)
		}
		size := bytesOf(a.Data())
		a.Release()
		for _, limit := range []int64{-1, 0, 1, 8, size / 7, size / 3, size / 2, size - 9, size - 1, size, size + 64, size * 2} {
			r, err := Open(fx.file, field) // with nothing kept of what was read before
			if err != nil {
				t.Fatal(err)
			}
			a, err := r.Read(t.Context(), src, 0, r.Rows(), limit)
			if err != nil {
				if !errors.Is(err, column.ErrLimit) {
					t.Fatalf("limit %d: %v", limit, err)
				}
				if limit >= size*2 {
					t.Errorf("limit %d for %d bytes: %v", limit, size, err)
				}
				continue
			}
			if got := bytesOf(a.Data()); got > max(limit, 0) {
				t.Errorf("%d bytes, limit %d", got, limit)
			}
			a.Release()
		}
	})
}

// TestHugeCounts has pages that claim many rows: no memory is made for them.
func TestHugeCounts(t *testing.T) {
	p := arrow.PrimitiveTypes
	vec := arrow.FixedSizeListOf(math.MaxInt32, p.Float64)
	for _, c := range []struct {
		name string
		typ  arrow.DataType
		page pageSpec
		want error
	}{
		{"all null", p.Int64, pageSpec{1 << 31, allNulls(), nil}, column.ErrLimit},
		{"all null, more than any array", p.Int64, pageSpec{1 << 62, allNulls(), nil}, column.ErrLimit},
		{"constant", p.Int64, pageSpec{1 << 30, constantOf(make([]byte, 8)), nil}, column.ErrLimit},
		{"constant text", arrow.BinaryTypes.String, pageSpec{1 << 20, constantOf(make([]byte, 1000)), nil}, column.ErrLimit},
		{"null", arrow.Null, pageSpec{math.MaxUint64, allNulls(), nil}, column.ErrLimit},
		{"flat", p.Int64, pageSpec{1 << 20, flatOf(64, 0), [][]byte{make([]byte, 80)}}, column.ErrLimit},
		{"flat, little", p.Int64, pageSpec{1 << 10, flatOf(64, 0), [][]byte{make([]byte, 80)}}, column.ErrCorrupt},
		{"wide vectors", vec, pageSpec{1 << 20, allNulls(), nil}, column.ErrLimit},
		{"wide vectors, flat", vec, pageSpec{1, fslOf(math.MaxInt32, flatOf(64, 0)), [][]byte{make([]byte, 80)}}, column.ErrLimit},
		{"dictionary", arrow.BinaryTypes.String, pageSpec{4, dictOf(flatOf(8, 0), allNulls(), math.MaxUint32), [][]byte{make([]byte, 4)}}, column.ErrLimit},
		{"dictionary of constants", arrow.BinaryTypes.String,
			pageSpec{4, dictOf(flatOf(8, 0), constantOf(make([]byte, 1<<10)), 1<<20), [][]byte{make([]byte, 4)}}, column.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := &fileSpec{schema: schemaOf(), rows: c.page.rows, columns: []columnSpec{{pages: []pageSpec{c.page}}}}
			raw := spec.write(t)
			r, err := Open(openBytes(t, raw), field("x", c.typ))
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Need(0, r.Rows())
			allocated := testing.AllocsPerRun(1, func() {
				if _, err = r.Read(t.Context(), &source{b: raw}, 0, r.Rows(), 1<<20); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
			if allocated > 1000 {
				t.Errorf("%v allocations", allocated)
			}
		})
	}
}
