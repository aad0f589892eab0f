package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// columnOf reads rows of one column of a fragment, or of all when f is nil: all live ones or n from an offset.
func columnOf(tb testing.TB, t *table.Table, f *pb.DataFragment, name string, from, n uint64) (arrow.Array, error) {
	tb.Helper()
	ctx := context.Background()
	o := scan.Options{Columns: []string{name}, StoredJSON: true, BlobBytes: true, Offset: from, Limit: &n}
	if f != nil {
		o.Fragments = []uint64{f.GetId()}
	}
	s, err := scan.Open(ctx, t, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var chunks []arrow.Array
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, b.Column(0))
	}
	if len(chunks) == 0 {
		return array.MakeArrayOfNull(memory.DefaultAllocator, s.Schema().Field(0).Type, 0), nil
	}
	return array.Concatenate(chunks, memory.DefaultAllocator)
}

// valuesOfColumn reads a column of a table.
func valuesOfColumn(tb testing.TB, t *table.Table, name string) arrow.Array {
	tb.Helper()
	a, err := columnOf(tb, t, nil, name, 0, 1<<40)
	if err != nil {
		tb.Fatalf("column %q: %v", name, err)
	}
	return a
}

// readable tells whether a column is one that can be decoded: tests make many of random bytes.
func readable(tb testing.TB, t *table.Table, f *pb.DataFragment, name string) bool {
	tb.Helper()
	_, err := columnOf(tb, t, f, name, 0, f.GetPhysicalRows())
	return err == nil
}

// checkField holds what new fragments have of a top-level field against the fragments that they were made of. Pages are the same
// where the decision was to copy them, and values wherever they can be read.
func checkField(tb testing.TB, what string, before, after *table.Table, old, made []*pb.DataFragment, at int) {
	tb.Helper()
	sh := shapeOf(before)
	field := &sh.fields[at]
	in, err := readInputs(tb.Context(), before, sh, old, nil, limitsOf(0), nil)
	if err != nil {
		tb.Fatal(err)
	}
	below := int64(joinBelow)
	var held []*holding
	for _, x := range old {
		src, err := openSources(tb.Context(), before, x, sh, datafile.Open)
		if err != nil {
			tb.Fatal(err)
		}
		held = append(held, &src.holdings(sh)[at])
		src.Close()
		if !readable(tb, before, x, field.name) {
			below = 0
		}
	}
	var rows []int64
	for _, f := range made {
		rows = append(rows, int64(f.GetPhysicalRows()))
	}
	files, err := deal(in.stored, rows)
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	for i, pieces := range files {
		stretches, anew := stretchesOf(field, plainEncoding(tb), pieces, in.stored, held, below)
		checkPages(tb, what, before, after, old, made[i], sh, at, stretches, anew)
		for _, p := range pieces {
			checkValues(tb, what, before, after, in, p, made[i], field.name)
		}
	}
}

// checkPages looks for the pages that are copied, in their order.
func checkPages(tb testing.TB, what string, before, after *table.Table, old []*pb.DataFragment, f *pb.DataFragment, sh *shape, at int, stretches []stretch, anew bool) {
	tb.Helper()
	want := make(map[int32][]page)
	for _, s := range stretches {
		if s.way != copied {
			continue
		}
		for id, ps := range contentOf(tb, before, old[s.frag]).columns {
			from := uint64(0)
			for _, p := range ps {
				whole := s.from == 0 && s.to == old[s.frag].GetPhysicalRows()
				if sh.top[id] == at && (whole || from >= s.from && from < s.to) {
					p.priority = s.row + max(p.priority, s.from) - s.from
					want[id] = append(want[id], p)
				}
				from += p.length
			}
		}
	}
	held := 0
	for id, have := range contentOf(tb, after, f).columns {
		if sh.top[id] != at {
			continue
		}
		held++
		pages := joinHeaders(want[id])
		if !anew && len(have) != len(pages) {
			tb.Errorf("%s, field %d: %d pages, want %d", what, id, len(have), len(pages))
		}
		for _, p := range pages {
			if isStruct(p) && anew {
				continue // one page counts all
			}
			for len(have) > 0 && fmt.Sprint(have[0]) != fmt.Sprint(p) && anew {
				have = have[1:]
			}
			if len(have) == 0 || fmt.Sprint(have[0]) != fmt.Sprint(p) {
				tb.Errorf("%s, field %d: the page %v is not there", what, id, p)
				break
			}
			have = have[1:]
		}
	}
	if (held > 0) != (stretches != nil) || anew && held != len(sh.fields[at].ids) {
		tb.Errorf("%s: %d columns of field %q", what, held, sh.fields[at].name)
	}
}

// checkValues compares the values of a piece with those of the rows that became of it.
func checkValues(tb testing.TB, what string, before, after *table.Table, in *inputs, p piece, f *pb.DataFragment, name string) {
	tb.Helper()
	x := in.frags[p.frag]
	if !readable(tb, before, x, name) {
		return
	}
	want, err := columnOf(tb, before, x, name, in.stored[p.frag].live(0, p.from), p.live)
	if err != nil {
		tb.Fatal(err)
	}
	have, err := columnOf(tb, after, f, name, p.row, p.live)
	if err != nil {
		tb.Errorf("%s, field %q: %v", what, name, err) // next to pages that can't be read, perhaps
		return
	}
	if have.Len() != want.Len() {
		tb.Errorf("%s, field %q: %d rows of fragment %d, want %d", what, name, have.Len(), x.GetId(), want.Len())
	} else if d := lancetest.Difference(have, 0, want, 0, want.Len()); d != "" {
		tb.Errorf("%s, field %q, fragment %d: %s", what, name, x.GetId(), d)
	}
}
