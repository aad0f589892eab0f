package array

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// someRows makes ranges of n rows, at least one.
func someRows(rng *rand.Rand, n uint64) []column.Range {
	var out []column.Range
	for len(out) == 0 {
		rows, gap := 1+rng.Uint64N([]uint64{2, 20, n + 1}[rng.IntN(3)]), 1+rng.Uint64N([]uint64{2, 20, n + 1}[rng.IntN(3)])
		for at := rng.Uint64N(gap + 1); at < n; {
			to := min(n, at+1+rng.Uint64N(rows))
			out = append(out, column.Range{From: at, To: to})
			at = to + rng.Uint64N(gap)
		}
	}
	return out
}

// pruner keeps rows of the columns of a file.
type pruner struct {
	raw  []byte
	file *datafile.File
	sink
	// done pages, and those that could not be treated so.
	done, left int
}

// field keeps rows of a field: of a list those items that its lists have. It tells whether all pages could be.
func (p *pruner) field(tb testing.TB, f column.Field, keep []column.Range) bool {
	tb.Helper()
	var items []column.Range
	mem := new(slab.Arena)
	first, firstItem, all := uint64(0), uint64(0), true
	for i, m := range p.file.Columns[f.Column].GetPages() {
		n := m.GetLength()
		part := within(keep, first, n)
		first += n
		var bufs, before [][]byte
		for k, pos := range m.GetBufferOffsets() {
			bufs = append(bufs, p.raw[pos:][:m.GetBufferSizes()[k]])
			before = append(before, bytes.Clone(bufs[k]))
		}
		part, err := column.CheckRanges(part, n)
		if err != nil {
			tb.Fatal(err)
		}
		if len(f.Children) == 1 && column.Storage(f.Type).ID() != arrow.STRUCT {
			of, ok, err := ItemsOf(m, bufs, part)
			if err != nil || !ok {
				tb.Fatalf("%s, page %d: the items are not known: %v", f.Name, i, err)
			}
			for _, r := range of {
				items = append(items, column.Range{From: r.From + firstItem, To: r.To + firstItem})
			}
			e, _ := (&page{meta: m}).decode()
			firstItem += e.GetList().GetNumItems()
		}
		if len(part) == 0 {
			continue
		}
		out, ok, err := Keep(m, bufs, part, enough, mem)
		if err != nil {
			tb.Fatalf("%s, page %d: %v", f.Name, i, err)
		}
		if !ok {
			p.left++
			all = false
			continue
		}
		p.done++
		out.Column = f.Column
		if err := p.Page(out); err != nil {
			tb.Fatal(err)
		}
		mem.Free()
		for k := range bufs {
			if !bytes.Equal(bufs[k], before[k]) {
				tb.Fatalf("%s, page %d: buffer %d was changed", f.Name, i, k)
			}
		}
	}
	for _, c := range f.Children {
		part := keep
		if column.Storage(f.Type).ID() != arrow.STRUCT {
			part = items
		}
		all = p.field(tb, c, part) && all
	}
	return all
}

// within is the part of ranges that lies in n rows from one on, counted from there.
func within(keep []column.Range, first, n uint64) (out []column.Range) {
	for _, r := range keep {
		if from, to := max(r.From, first), min(r.To, first+n); from < to {
			out = append(out, column.Range{From: from - first, To: to - first})
		}
	}
	return out
}

// keepRows checks that of a field of a file those rows are left that are kept; false when that can't be done.
func keepRows(tb testing.TB, raw []byte, file *datafile.File, f column.Field, want arrow.Array, keep []column.Range) (ok bool, done, left int) {
	tb.Helper()
	p := &pruner{raw: raw, file: file}
	if !p.field(tb, f, keep) {
		return false, p.done, p.left
	}
	p.close(tb, f)
	n := int(column.RowsOf(keep))
	out := p.sink.file(tb, n)
	r, err := Open(openBytes(tb, out), f)
	if err != nil {
		tb.Fatalf("%s, %v: %v", f.Name, keep, err)
	}
	got, err := r.Read(tb.Context(), &source{b: out}, 0, uint64(n), enough)
	if err != nil {
		tb.Fatalf("%s, %v: %v", f.Name, keep, err)
	}
	defer got.Release()
	at := 0
	for _, k := range keep {
		for i := k.From; i < k.To; i++ {
			if g, w := cell(got.Data(), at), cell(want.Data(), int(i)); g != w {
				tb.Fatalf("%s, %v: row %d, once %d, is %s, want %s", f.Name, keep[:min(len(keep), 20)], at, i, g, w)
			}
			at++
		}
	}
	return true, p.done, p.left
}

// TestKeepLance keeps rows of files that Lance wrote.
func TestKeepLance(t *testing.T) {
	defer slab.Hold()() // what uses memory after it was given back finds other bytes in it
	rng := rand.New(rand.NewPCG(3, 4))
	for _, kind := range kinds {
		fx := readFixture(t, "14.0.2", kind)
		for i, f := range fields(fx.rows.Schema()) {
			if f.Blob {
				continue
			}
			t.Run(kind+"/"+f.Name, func(t *testing.T) {
				want := fx.column(t, i)
				done := 0
				for range 30 {
					if ok, _, _ := keepRows(t, fx.raw, fx.file, f, want, someRows(rng, uint64(want.Len()))); ok {
						done++
					}
				}
				if done == 0 && f.Name != "fsst" {
					t.Errorf("never done")
				}
			})
		}
	}
}

// TestKeepHandmade keeps rows of what no release writes.
func TestKeepHandmade(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	done, left := 0, 0
	for _, make := range []func(testing.TB) (*fileSpec, arrow.RecordBatch){packedFile, textsFile, constantFile} {
		spec, want := make(t)
		raw := spec.write(t)
		file := openBytes(t, raw)
		for i, f := range fields(want.Schema()) {
			for range 10 {
				if len(f.Children) > 0 || len(spec.columns[f.Column].pages) == 0 || spec.columns[f.Column].pages[0].enc.GetList() != nil {
					continue
				}
				_, d, l := keepRows(t, raw, file, f, want.Column(i), someRows(rng, uint64(want.NumRows())))
				done, left = done+d, left+l
			}
		}
	}
	t.Logf("%d pages, %d not", done, left)
	if done < 50 {
		t.Errorf("%d pages were kept, %d not", done, left)
	}
}
