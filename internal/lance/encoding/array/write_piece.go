package array

import (
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// piece is n rows of an array, from one on that is counted from the beginning of its buffers.
type piece struct {
	data    arrow.ArrayData
	from, n int
}

// head is the first n rows, tail what is behind them.
func (p piece) head(n int) piece { return piece{p.data, p.from, n} }
func (p piece) tail(n int) piece { return piece{p.data, p.from + n, p.n - n} }

// kid is the rows of a child that belong to the piece, where each row has some items.
func (p piece) kid(i, items int) piece {
	k := p.data.Children()[i]
	return piece{k, k.Offset() + p.from*items, p.n * items}
}

// valid returns the bits of what is not null; nil when nothing is.
func (p piece) valid() []byte {
	if p.data.NullN() == 0 || len(p.data.Buffers()) == 0 || p.data.Buffers()[0] == nil || p.data.Buffers()[0].Len() == 0 {
		return nil
	}
	return p.data.Buffers()[0].Bytes()
}

// nulls counts what is null.
func (p piece) nulls() int {
	if column.Storage(p.data.DataType()).ID() == arrow.NULL {
		return p.n
	}
	bits := p.valid()
	if bits == nil || p.n == 0 {
		return 0
	}
	return p.n - bitutil.CountSetBits(bits, p.from, p.n)
}

// fixed returns the bytes of values of w bytes.
func (p piece) fixed(w int) []byte {
	if p.n == 0 {
		return nil
	}
	return p.data.Buffers()[1].Bytes()[p.from*w : (p.from+p.n)*w]
}

// span is where the values of strings lie among their bytes, or the items of lists.
func (p piece) span() (from, to int) {
	if p.n == 0 {
		return 0, 0
	}
	o := offsetsOf(p.data)
	from, _ = o.at(p.from)
	_, to = o.at(p.from + p.n - 1)
	return from, to
}

// text returns the bytes of strings.
func (p piece) text() []byte {
	from, to := p.span()
	if from == to {
		return nil
	}
	return p.data.Buffers()[2].Bytes()[from:to]
}

// bits is how many bits the values take in a page, without what says which are null.
func (p piece) bits() int64 {
	typ := column.Storage(p.data.DataType())
	if bits, ok := fixedBits(typ); ok {
		return int64(p.n) * int64(bits)
	}
	if isVariable(typ) {
		from, to := p.span()
		return int64(p.n)*64 + int64(to-from)*8
	}
	switch t := typ.(type) {
	case *arrow.FixedSizeListType:
		return p.kid(0, int(t.Len())).bits()
	case *arrow.DictionaryType:
		bits, _ := fixedBits(t.IndexType)
		return int64(p.n) * int64(bits)
	case *arrow.StructType:
		var n int64
		for i := range t.NumFields() {
			n += p.kid(i, 1).bits()
		}
		return n
	}
	return 0
}

// reach is how many rows take at least so many bits: all when they take fewer.
func (p piece) reach(bits int64) int {
	if p.bits() <= bits {
		return p.n
	}
	return sort.Search(p.n, func(i int) bool { return p.head(i).bits() >= bits })
}

// countRows is how many rows pieces have.
func countRows(in []piece) int {
	n := 0
	for _, p := range in {
		n += p.n
	}
	return n
}

// countNulls is how many rows pieces have, and how many of them are null.
func countNulls(in []piece) (rows, nulls int) {
	for _, p := range in {
		rows += p.n
		nulls += p.nulls()
	}
	return rows, nulls
}

// kids are the pieces of a child.
func kids(in []piece, i, items int) []piece {
	out := make([]piece, len(in))
	for j, p := range in {
		out[j] = p.kid(i, items)
	}
	return out
}
