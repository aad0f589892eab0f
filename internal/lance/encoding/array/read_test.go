package array

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

var kinds = []string{"fixed", "strings", "lists", "vectors", "dictionaries"}

// eachColumn calls f for every column of every file of testdata.
func eachColumn(t *testing.T, f func(t *testing.T, fx *fixture, field column.Field, want []string)) {
	for _, release := range []string{"14.0.2", "0.39.0"} {
		for _, kind := range kinds {
			if _, err := os.Stat(filepath.Join("testdata", release, kind+".lance")); err != nil && release != "14.0.2" {
				continue // of other releases there are few
			}
			fx := readFixture(t, release, kind)
			for i, field := range fields(fx.rows.Schema()) {
				t.Run(release+"/"+kind+"/"+field.Name, func(t *testing.T) {
					f(t, fx, field, cells(fx.column(t, i)))
				})
			}
		}
	}
}

func TestReadsWhatLanceWrote(t *testing.T) {
	eachColumn(t, func(t *testing.T, fx *fixture, field column.Field, want []string) {
		r, err := Open(fx.file, field)
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(len(want))
		if r.Rows() != n {
			t.Fatalf("%d rows, want %d", r.Rows(), n)
		}
		src := &source{b: fx.raw}
		read := func(from, to uint64) {
			a, err := r.Read(t.Context(), src, from, to, enough)
			if err != nil {
				t.Fatalf("rows %d to %d: %v", from, to, err)
			}
			defer a.Release()
			what := fmt.Sprintf("rows %d to %d", from, to)
			if field.Blob {
				checkBlobs(t, what, fx.raw, a, want[from:to])
				return
			}
			check(t, what, a, want[from:to])
			if !arrow.TypeEqual(a.DataType(), field.Type) {
				t.Fatalf("type %s, want %s", a.DataType(), field.Type)
			}
		}
		read(0, n)
		read(0, 0)
		read(n, n)
		for i := range n {
			read(i, i+1)
		}
		rng := rand.New(rand.NewPCG(n, 7))
		for range 200 {
			from := rng.Uint64N(n + 1)
			read(from, from+rng.Uint64N(n-from+1))
		}
	})
}

// checkBlobs follows descriptors to the values.
func checkBlobs(t *testing.T, what string, file []byte, a arrow.Array, want []string) {
	t.Helper()
	s := a.(*array.Struct)
	pos, size := s.Field(0).(*array.Uint64), s.Field(1).(*array.Uint64)
	for i, w := range want {
		got := fmt.Sprintf("%q", file[pos.Value(i):][:size.Value(i)])
		if pos.Value(i) == 1 && size.Value(i) == 0 {
			got = "null"
		}
		if got != w {
			t.Fatalf("%s: blob %d at %d is %s, want %s", what, i, pos.Value(i), got, w)
		}
	}
}
