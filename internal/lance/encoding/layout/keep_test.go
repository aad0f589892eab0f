package layout

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// someRows makes ranges of n rows: few holes, many holes, one range, or nothing but a few rows.
func someRows(rnd *rand.Rand, n uint64) []column.Range {
	var out []column.Range
	add := func(from, to uint64) {
		if from < to {
			out = append(out, column.Range{From: from, To: to})
		}
	}
	switch rnd.IntN(5) {
	case 0: // a split
		at := rnd.Uint64N(n + 1)
		if rnd.IntN(2) == 0 {
			add(0, at)
		} else {
			add(at, n)
		}
	case 1: // a hole
		at := rnd.Uint64N(n + 1)
		end := at + rnd.Uint64N(n-at+1)
		add(0, at)
		add(end, n)
	case 2: // a range
		at := rnd.Uint64N(n + 1)
		add(at, at+rnd.Uint64N(n-at+1))
	case 3: // scattered holes
		each := 2 + rnd.Uint64N(300)
		at := uint64(0)
		for at < n {
			to := min(n, at+1+rnd.Uint64N(each))
			add(at, to)
			at = to + 1 + rnd.Uint64N(3)
		}
	default: // scattered rows
		each := 1 + rnd.Uint64N(50)
		for at := rnd.Uint64N(each); at < n; at += 1 + rnd.Uint64N(each) {
			add(at, at+1)
		}
	}
	return out
}

// keptField keeps rows of all columns of a field, and opens what comes out of it. ok is false
// when a page can't be treated so.
func keptField(t testing.TB, r *reader, field column.Field, src memorySource, keep []column.Range, minor int) (column.Reader, *memoryFile, bool) {
	t.Helper()
	file, mem := new(memoryFile), new(slab.Arena)
	most := 0
	for _, l := range r.leaves {
		most = max(most, l.column)
		for p, m := range l.meta {
			var part []column.Range
			for _, k := range keep {
				from, to := max(k.From, l.starts[p]), min(k.To, l.starts[p+1])
				if from < to {
					part = append(part, column.Range{From: (from - l.starts[p]) * l.stride, To: (to - l.starts[p]) * l.stride})
				}
			}
			if len(part) == 0 {
				continue
			}
			bufs, err := src.Fetch(t.Context(), spansOf(m))
			if err != nil {
				t.Fatal(err)
			}
			before := make([][]byte, len(bufs))
			for i, b := range bufs {
				before[i] = bytes.Clone(b)
			}
			part, err = column.CheckRanges(part, m.GetLength())
			if err != nil {
				t.Fatal(err)
			}
			page, ok, err := Keep(m, bufs, part, 1<<30, mem)
			if err != nil {
				t.Fatalf("%s, page %d: %v", l.name, p, err)
			}
			if !ok {
				return nil, nil, false
			}
			page.Column, page.Priority = l.column, uint64(len(file.columns))
			if err := file.Page(page); err != nil {
				t.Fatal(err)
			}
			mem.Free()
			for i, b := range bufs {
				if !bytes.Equal(b, before[i]) {
					t.Fatalf("%s, page %d: buffer %d was changed", l.name, p, i)
				}
			}
		}
	}
	n := column.RowsOf(keep)
	out, err := Open(file.finish(minor, n, most+1), field)
	if err != nil {
		t.Fatal(err)
	}
	return out, file, true
}

// checkKept compares what was kept with the rows of the values before.
func checkKept(t testing.TB, r column.Reader, file *memoryFile, want arrow.Array, keep []column.Range, rnd *rand.Rand) {
	t.Helper()
	var rows []int
	for _, k := range keep {
		for i := k.From; i < k.To; i++ {
			rows = append(rows, int(i))
		}
	}
	for i := range 4 {
		from, to := 0, len(rows)
		if i > 0 && to > 0 {
			from = rnd.IntN(to + 1)
			to = from + rnd.IntN(to-from+1)
		}
		got, err := r.Read(t.Context(), memorySource(file.data), uint64(from), uint64(to), 1<<32)
		if err != nil {
			t.Fatalf("rows %d to %d of %v: %v\n%v", from, to, clipped(keep), err, r.Pages())
		}
		for j := range got.Len() {
			if w, g := render(nil, want, rows[from+j]), render(nil, got, j); !bytes.Equal(w, g) {
				t.Fatalf("row %d, once %d, of %v: %q, want %q\n%v", from+j, rows[from+j], clipped(keep), clip(g), clip(w), r.Pages())
			}
		}
		got.Release()
	}
}

func clipped(keep []column.Range) []column.Range { return keep[:min(len(keep), 20)] }

// Pages by real Lance.
func TestKeepReal(t *testing.T) {
	defer slab.Hold()() // what uses memory after it was given back finds other bytes in it
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, rf := range realFiles(t) {
		src := wholeFile(t, rf)
		next := 0
		for i, f := range rf.want.Schema().Fields() {
			field := fieldOf(f, &next)
			r, err := Open(rf.file, field)
			if err != nil {
				t.Fatal(err)
			}
			tried, done := 0, 0
			for range 25 {
				n := r.Rows()
				if n == 0 {
					continue
				}
				keep := someRows(rnd, n)
				if len(keep) == 0 {
					continue
				}
				tried++
				out, file, ok := keptField(t, r.(*reader), field, src, keep, int(rf.file.Minor))
				if !ok {
					continue
				}
				done++
				checkKept(t, out, file, rf.want.Column(i), keep, rnd)
			}
			t.Logf("%s, %s: %d of %d", rf.name, f.Name, done, tried)
			if done == 0 && tried > 5 && !field.Blob {
				t.Errorf("%s, %s: no page was kept: %v", rf.name, f.Name, r.Pages())
			}
		}
	}
}

func wholeFile(t testing.TB, rf realFile) memorySource {
	t.Helper()
	b := make([]byte, rf.file.Reader.Entry().Size)
	if err := rf.file.Reader.ReadAt(t.Context(), b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}
