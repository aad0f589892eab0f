package array

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// roundTrip writes arrays in pages of some size and reads them back; the pages are the same however the arrays are cut.
func roundTrip(t *testing.T, rng *rand.Rand, f arrow.Field, pageBytes int64, whole bool, arrays ...arrow.Array) {
	t.Helper()
	next := 0
	field := numbered(f, &next)
	var want []string
	var parts []arrow.Array
	for _, a := range arrays {
		want = append(want, cells(a)...)
		parts = append(parts, cut(rng, a)...)
	}
	var s, other sink
	s.add(t, field, pageBytes, parts...)
	other.add(t, field, pageBytes, arrays...)
	if whole {
		samePages(t, &s, &other)
	}
	raw := s.file(t, len(want))
	r, err := Open(openBytes(t, raw), field)
	if err != nil {
		t.Fatal(err)
	}
	src := &source{b: raw}
	for i := range 8 {
		from := rng.IntN(len(want) + 1)
		to := from + rng.IntN(len(want)-from+1)
		if i == 0 {
			from, to = 0, len(want)
		}
		a, err := r.Read(t.Context(), src, uint64(from), uint64(to), enough)
		if err != nil {
			t.Fatalf("rows %d to %d: %v", from, to, err)
		}
		what := fmt.Sprintf("%s in pages of %d, rows %d to %d", f.Type, pageBytes, from, to)
		if field.Blob {
			checkBlobs(t, what, raw, a, want[from:to])
		} else {
			check(t, what, a, want[from:to])
		}
		a.Release()
	}
}

func samePages(t *testing.T, a, b *sink) {
	t.Helper()
	for i := range a.spec.columns {
		p, q := a.spec.columns[i].pages, b.spec.columns[i].pages
		if len(p) != len(q) {
			t.Fatalf("column %d: %d pages, or %d when the arrays are cut otherwise", i, len(p), len(q))
		}
		for k := range p {
			if p[k].rows != q[k].rows || !proto.Equal(p[k].enc, q[k].enc) || !slices.EqualFunc(p[k].buffers, q[k].buffers, slices.Equal) {
				t.Fatalf("column %d, page %d depends on how the arrays are cut", i, k)
			}
		}
	}
}

// TestWritesRandom writes arrays of all types, in all sizes of pages.
func TestWritesRandom(t *testing.T) {
	for i, f := range writableTypes() {
		t.Run(f.Type.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 5))
			for k, pageBytes := range []int64{1, 50, 333, 2000, 0} {
				for _, nulls := range []float64{0, 0.2, 0.9, 1} {
					if f.Metadata.Len() > 0 && nulls > 0 {
						continue // packed structs and what is in them are never null
					}
					few, rows := []int{0, 0, 3, 99, 150}[k], 40+65*k
					a := array.MakeFromData(randomArray(rng, f.Type, 1+rng.IntN(rows), nulls, few))
					b := array.MakeFromData(randomArray(rng, f.Type, rng.IntN(rows), 0, few))
					// Whether a dictionary is kept depends on whether the arrays share it.
					roundTrip(t, rng, f, pageBytes, !strings.Contains(f.Type.String(), "dictionary"), a, b)
				}
			}
		})
	}
}

// TestWritesFixtures writes the rows that Lance wrote, in pages of other sizes.
func TestWritesFixtures(t *testing.T) {
	for _, kind := range kinds {
		fx := readFixture(t, "14.0.2", kind)
		for i, f := range fx.rows.Schema().Fields() {
			t.Run(kind+"/"+f.Name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(i), 6))
				for _, pageBytes := range []int64{20, 1000, 0} {
					roundTrip(t, rng, f, pageBytes, true, fx.column(t, i))
				}
			})
		}
	}
}

// FuzzWrite writes arrays of any kind and reads them back.
func FuzzWrite(f *testing.F) {
	all := writableTypes()
	for i := range all {
		f.Add(uint64(i), uint8(i), uint16(200), uint16(30), uint8(3), uint8(i%4))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8, rows, pageBytes uint16, few, mode uint8) {
		x := all[int(kind)%len(all)]
		rng := rand.New(rand.NewPCG(seed, 1))
		nulls := []float64{0, 0.1, 0.7, 1}[mode%4]
		if x.Metadata.Len() > 0 {
			nulls = 0 // packed
		}
		if scheme := []string{"", "lz4", "zstd", "fsst"}[mode/4%4]; scheme != "" && x.Metadata.Len() == 0 {
			x.Metadata = arrow.MetadataFrom(map[string]string{"lance-encoding:compression": scheme, "lance-encoding:compression-level": fmt.Sprint(mode / 64)})
		}
		a := array.MakeFromData(randomArray(rng, x.Type, 1+int(rows)%500, nulls, int(few)))
		b := array.MakeFromData(randomArray(rng, x.Type, int(rows)%77, 0, int(few)))
		roundTrip(t, rng, x, int64(pageBytes)+1, !strings.Contains(x.Type.String(), "dictionary"), a, b)
	})
}
