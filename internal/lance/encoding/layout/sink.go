package layout

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
)

// maxLevels is how many levels are worked on at once, and the most that a chunk has.
const maxLevels = 1 << 16

// sink takes what the pages of a leaf give in one read.
type sink struct {
	limit  int64
	levels *level.Builder
	// values is nil for a leaf without values: see newValues.
	values *block.Values
	// count of values, nulls among them; null of those that came from pages of nulls.
	count, null int
	// dict is what a dictionary-typed leaf's values are indices into.
	dict *dictionary
	// emptyStructs: the leaf is a struct without fields.
	emptyStructs bool
	// rep and def are working space for maxLevels levels.
	rep, def []uint16
}

// scratch keeps working space for levels between reads.
var scratch = sync.Pool{New: func() any { return new([2 * maxLevels]uint16) }}

// newSink makes the sink of a read of rows of a leaf. release must be called.
func newSink(l *leaf, rows int, limit int64) (*sink, func(), error) {
	v, err := newValues(l.typ, limit)
	if err != nil {
		return nil, nil, err
	}
	space := scratch.Get().(*[2 * maxLevels]uint16)
	s := &sink{limit: limit, levels: level.NewBuilder(l.path, rows, limit), values: v,
		rep: space[:maxLevels:maxLevels], def: space[maxLevels:]}
	switch dt := column.Storage(l.typ).(type) {
	case *arrow.DictionaryType:
		s.dict = &dictionary{typ: dt}
	case *arrow.StructType:
		s.emptyStructs = dt.NumFields() == 0
	}
	return s, func() { scratch.Put(space) }, nil
}

// fits checks that values of a page's shape can be appended to the sink's. As long as these
// are nulls they take on any shape; whether it fits the type is looked at in the
// end.
func (s *sink) fits(shape *block.Values) error {
	if s.values == nil {
		return corrupt("values in a column whose type has none")
	}
	if sameShape(shape, s.values) {
		return nil
	}
	if s.count > s.null {
		return corrupt("values of another shape than those before")
	}
	*s.values = *shape
	return s.values.AppendNulls(s.count)
}

// update tells the block of values what the levels left of the limit.
func (s *sink) update() error {
	left := s.limit - s.levels.Size()
	if left < bytesOf(s.values) {
		return overLimit("%d bytes of levels, %d of values", s.levels.Size(), bytesOf(s.values))
	}
	setLimit(s.values, left)
	return nil
}

// left is how many bytes values may take.
func (s *sink) left() int64 {
	if s.values == nil {
		return s.limit
	}
	return s.values.Limit
}

// took counts n values that were appended to the block.
func (s *sink) took(n int) error {
	s.count += n
	if s.values != nil && s.values.N != s.count {
		return corrupt("%d values for %d places", s.values.N, s.count)
	}
	return nil
}

// extrapolate makes room for n values in all, judging by those so far: called after the
// first of several chunks, so that a block grows in one step. What is reserved stays
// below the limit.
func extrapolate(v *block.Values, n int) {
	if v == nil || v.N == 0 || n <= v.N {
		return
	}
	switch v.Kind {
	case block.Fixed:
		v.Data = room(v.Data, (int64(n)*int64(v.Bits)+7)/8, v.Limit)
	case block.Variable:
		if want := int64(n) + 1; want > int64(cap(v.Offsets)) && 8*want <= v.Limit {
			v.Offsets = append(make([]int64, 0, want), v.Offsets...)
		}
		// A little more than the first values suggest: too little means copying all.
		v.Data = room(v.Data, int64(float64(len(v.Data))/float64(v.N)*float64(n)*1.06), v.Limit-8*int64(n))
	case block.List:
		if int64(n)*int64(v.Dim) <= v.Limit*8 {
			extrapolate(v.Items, n*v.Dim)
		}
	case block.Struct:
		for _, f := range v.Fields {
			extrapolate(f, n)
		}
	}
}

// room returns b with at least the capacity wanted, unless that is beyond the limit.
func room(b []byte, want, limit int64) []byte {
	if want <= int64(cap(b)) || want > limit {
		return b
	}
	return append(make([]byte, 0, want), b...)
}
