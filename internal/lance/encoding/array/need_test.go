package array

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// covered tells whether a span lies within those that were named.
func covered(x datafile.Span, by []datafile.Span) bool {
	for _, s := range by {
		if x.Pos >= s.Pos && x.Pos+x.Size <= s.Pos+s.Size {
			return true
		}
	}
	return false
}

// TestNeedNamesWhatIsRead asks for all rows: then everything is known beforehand.
func TestNeedNamesWhatIsRead(t *testing.T) {
	eachColumn(t, func(t *testing.T, fx *fixture, field column.Field, _ []string) {
		r, err := Open(fx.file, field)
		if err != nil {
			t.Fatal(err)
		}
		need := r.Need(0, r.Rows()+7)
		src := &source{b: fx.raw}
		a, err := r.Read(t.Context(), src, 0, r.Rows(), enough)
		if err != nil {
			t.Fatal(err)
		}
		a.Release()
		for _, s := range src.spans {
			if !covered(s, need) {
				t.Errorf("%d bytes at %d are read, not named", s.Size, s.Pos)
			}
		}
		for _, s := range need {
			if s.Size == 0 || s.Pos+s.Size > fx.file.DataEnd {
				t.Errorf("%d bytes at %d are named, data ends at %d", s.Size, s.Pos, fx.file.DataEnd)
			}
		}
		if r.Need(r.Rows(), r.Rows()+1) != nil || r.Need(3, 3) != nil {
			t.Error("no rows need bytes")
		}
	})
}

// TestNeedGuesses reads parts of a large page: nearly all of what is read lies where
// values of even length would.
func TestNeedGuesses(t *testing.T) {
	const n = 1 << 16
	page := stringsPage(manyStrings(n, 40, true))
	spec := &fileSpec{schema: schemaOf(pbField("s", "string", -1)), rows: n, columns: []columnSpec{{pages: []pageSpec{page}}}}
	raw := spec.write(t)
	r, err := Open(openBytes(t, raw), field("s", arrow.BinaryTypes.String))
	if err != nil {
		t.Fatal(err)
	}
	for from := uint64(0); from < n; from += 4096 {
		src := &source{b: raw}
		a, err := r.Read(t.Context(), src, from, from+4096, enough)
		if err != nil {
			t.Fatal(err)
		}
		a.Release()
		need := r.Need(from, from+4096)
		if src.rounds != 2 || len(src.spans) != 2 {
			t.Fatalf("%d rounds, %d spans", src.rounds, len(src.spans))
		}
		var named uint64
		for _, s := range need {
			named += s.Size
		}
		for _, s := range src.spans {
			if !covered(s, need) {
				t.Errorf("rows from %d: %d bytes at %d are read, %v are named", from, s.Size, s.Pos, need)
			}
		}
		if named > src.bytes*3/2+16<<10 {
			t.Errorf("rows from %d: %d bytes named, %d read", from, named, src.bytes)
		}
	}
}
