package scan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
)

func TestCursor(t *testing.T) {
	two, zero := uint64(2), uint64(0)
	for _, tt := range []struct {
		name   string
		offset uint64
		limit  *uint64
		rows   []uint64
		want   [][2]uint64
		done   bool
	}{
		{"everything", 0, nil, []uint64{3, 0, 2}, [][2]uint64{{0, 3}, {0, 0}, {0, 2}}, false},
		{"an offset inside of the second", 4, nil, []uint64{3, 5, 2}, [][2]uint64{{3, 3}, {1, 5}, {0, 2}}, false},
		{"an offset at a border", 3, nil, []uint64{3, 5}, [][2]uint64{{3, 3}, {0, 5}}, false},
		{"an offset beyond all", 30, nil, []uint64{3, 5}, [][2]uint64{{3, 3}, {5, 5}}, false},
		{"a limit", 0, &two, []uint64{1, 5, 7}, [][2]uint64{{0, 1}, {0, 1}, {0, 0}}, true},
		{"an offset and a limit", 2, &two, []uint64{3, 5, 7}, [][2]uint64{{2, 3}, {0, 1}, {0, 0}}, true},
		{"no rows wanted", 0, &zero, []uint64{3}, [][2]uint64{{0, 0}}, true},
	} {
		c := newCursor(tt.offset, tt.limit)
		if got, want := c.everything(), tt.offset == 0 && tt.limit == nil; got != want {
			t.Errorf("%s: everything is %v", tt.name, got)
		}
		for i, rows := range tt.rows {
			if from, to := c.take(rows); [2]uint64{from, to} != tt.want[i] {
				t.Errorf("%s: fragment %d: [%d, %d), want %v", tt.name, i, from, to, tt.want[i])
			}
		}
		if c.done() != tt.done {
			t.Errorf("%s: done is %v", tt.name, c.done())
		}
	}
}

// Runs of live rows and their places, against going through the rows one by one.
func TestLiveRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		rows := r.Uint64N(200)
		deleted := roaring.New()
		var alive []uint64
		share := r.IntN(5)
		for i := range rows {
			if r.IntN(4) < share {
				deleted.Add(uint32(i))
			} else {
				alive = append(alive, i)
			}
		}
		from := r.Uint64N(rows + 1)
		to := from + r.Uint64N(rows-from+1)
		runs, n := live(deleted, from, to)
		var got, want []uint64
		for _, x := range runs {
			for i := range x.n {
				got = append(got, from+uint64(x.from+i))
			}
		}
		for _, i := range alive {
			if i >= from && i < to {
				want = append(want, i)
			}
		}
		if !slices.Equal(got, want) || n != len(want) {
			t.Fatalf("live rows of [%d, %d) without %v: %v (%d), want %v", from, to, deleted, got, n, want)
		}
		if len(alive) > 0 {
			a := r.IntN(len(alive))
			b := a + 1 + r.IntN(len(alive)-a)
			first, end := physical(deleted, rows, uint64(a), uint64(b))
			if first != alive[a] || end != alive[b-1]+1 {
				t.Fatalf("live rows [%d, %d) without %v lie in [%d, %d), want [%d, %d)", a, b, deleted, first, end, alive[a], alive[b-1]+1)
			}
		}
		first, end := trim(deleted, from, to)
		if len(want) > 0 && (first != want[0] || end != want[len(want)-1]+1) || len(want) == 0 && first != end {
			t.Fatalf("[%d, %d) without %v trimmed to [%d, %d)", from, to, deleted, first, end)
		}
	}
}

// Gathered rows are the rows, for every type of the fixtures and slices of their arrays.
func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"shared_types_20", "shared_types_21", "shared_types_22", "nested", "blob_22"} {
		want := expected(t, name)
		for c, col := range want.Columns() {
			for range 40 {
				i := r.Int64N(int64(col.Len()))
				a := array.NewSlice(col, i, i+r.Int64N(int64(col.Len())-i+1))
				var runs []run
				var pieces []arrow.Array
				for at := 0; at < a.Len(); {
					at += r.IntN(3)
					n := min(r.IntN(4), a.Len()-at)
					if n <= 0 {
						continue
					}
					runs = append(runs, run{at, n})
					pieces = append(pieces, array.NewSlice(a, int64(at), int64(at+n)))
					at += n
				}
				d, err := gather(a.Data(), runs)
				if err != nil {
					t.Fatal(err)
				}
				got := array.MakeFromData(d)
				if len(pieces) == 0 {
					if got.Len() != 0 {
						t.Fatalf("%d rows of none", got.Len())
					}
					continue
				}
				all, err := array.Concatenate(pieces, memory.DefaultAllocator)
				if err != nil {
					t.Fatal(err)
				}
				if got.Len() != all.Len() || got.NullN() != all.NullN() {
					t.Fatalf("%s: %d rows, %d nulls; want %d and %d", want.ColumnName(c), got.Len(), got.NullN(), all.Len(), all.NullN())
				}
				if diff := lancetest.Difference(got, 0, all, 0, got.Len()); diff != "" {
					t.Fatalf("%s: %s", want.ColumnName(c), diff)
				}
			}
		}
	}
}

// Nulls of every type are nulls, at the price of no bytes that others don't share.
func TestNulls(t *testing.T) {
	var z column.Zeros
	for _, name := range []string{"shared_types_22", "nested", "blob_22"} {
		for _, f := range expected(t, name).Schema().Fields() {
			for _, n := range []int{0, 1, 77} {
				d, err := z.Nulls(f.Type, n, 1<<20)
				if err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
				want := array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, n)
				got := array.MakeFromData(d)
				if diff := lancetest.Difference(got, 0, want, 0, n); diff != "" || got.Len() != n || got.NullN() != n {
					t.Errorf("%d of %s: %s, %v", n, f.Type, diff, got)
				}
				if v, ok := got.(interface{ ValidateFull() error }); ok {
					if err := v.ValidateFull(); err != nil {
						t.Errorf("%d of %s: %v", n, f.Type, err)
					}
				}
			}
		}
	}
	if _, err := z.Nulls(arrow.PrimitiveTypes.Int64, 1000, 7999); err == nil {
		t.Error("8000 bytes within 7999")
	}
}

func TestJoin(t *testing.T) {
	const k = 1 << 10
	type span [2]uint64
	for _, tt := range []struct {
		name  string
		in    []span
		limit uint64
		want  []span
	}{
		{"nothing", nil, 100, nil},
		{"empty spans", []span{{5, 0}}, 100, nil},
		{"neighbours, out of order", []span{{10, 5}, {0, 10}}, 1000, []span{{0, 15}}},
		{"a small gap", []span{{0, 10}, {10 + joinGap, 5}}, 1 << 30, []span{{0, 15 + joinGap}}},
		{"a large gap", []span{{0, 10}, {11 + joinGap, 5}}, 1 << 30, []span{{0, 10}, {11 + joinGap, 5}}},
		{"the limit", []span{{0, 60}, {60, 60}}, 100, []span{{0, 60}, {60, 60}}},
		{"one that is larger", []span{{0, 500}, {500, 10}}, 100, []span{{0, 500}, {500, 10}}},
		{"twice the same", []span{{3, 4}, {3, 4}}, 100, []span{{3, 4}}},
		{"one inside of another", []span{{0, 100}, {20, 5}, {100, 1}}, 100 * k, []span{{0, 101}}},
		{"overlapping beyond the limit", []span{{0, 80}, {70, 80}}, 100, []span{{0, 150}}},
	} {
		var got []span
		var in []datafile.Span
		for _, s := range tt.in {
			in = append(in, datafile.Span{Pos: s[0], Size: s[1]})
		}
		for _, s := range join(in, tt.limit) {
			got = append(got, span{s.Pos, s.Size})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
