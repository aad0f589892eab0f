package array

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// fold is values that take far less in a page than they do in memory: when there are enough of them for
// a page they are folded up, and the page goes on, so that there are not many tiny ones.
type fold interface {
	// take takes values from the front of a piece, as many as can be folded, and returns how many.
	take(p piece) int
	// room is how many more the page has room for.
	room() int
	// held is how much memory it takes.
	held() int
	encode(w *pageWriter) *pb.ArrayEncoding
}

// folded folds values up, if they can be.
func folded(typ arrow.DataType, in []piece, pageBytes int64) fold {
	rows, nulls := countNulls(in)
	typ = column.Storage(typ)
	switch {
	case typ.ID() == arrow.STRING && rows >= fewRows:
		f := &fewFold{most: int(min(max(pageBytes/8, 1), maxPageRows))}
		f.table.seed = seedOf()
		for _, p := range in {
			if f.take(p) < p.n {
				return nil
			}
		}
		f.own()
		return f
	case nulls == rows && (isFlat(typ) || typ.ID() == arrow.NULL):
		return &nullFold{rows}
	}
	return nil
}

func isFlat(t arrow.DataType) bool {
	_, ok := flatBits(t)
	return ok
}

// nullFold is nothing but nulls.
type nullFold struct{ rows int }

func (f *nullFold) take(p piece) int {
	n := p.n
	if valid := p.valid(); column.Storage(p.data.DataType()).ID() != arrow.NULL {
		n = 0
		for valid != nil && n < p.n && !bitutil.BitIsSet(valid, p.from+n) {
			n++
		}
	}
	f.rows += n
	return n
}

func (f *nullFold) room() int { return maxPageRows - f.rows }

func (f *nullFold) held() int { return 0 }

func (f *nullFold) encode(*pageWriter) *pb.ArrayEncoding { return allAreNull() }

// fewFold is strings of which few are different: their keys, and each of them once.
type fewFold struct {
	table fewTable
	keys  []byte
	most  int
	owned int
}

func (f *fewFold) take(p piece) int {
	at := len(f.keys)
	f.keys = grown(f.keys, p.n)
	n := f.table.keys(f.keys[at:], p)
	f.keys = f.keys[:at+n]
	f.own()
	return n
}

// own copies the items: pieces are not held.
func (f *fewFold) own() {
	for ; f.owned < f.table.n; f.owned++ {
		f.table.items[f.owned] = bytes.Clone(f.table.items[f.owned])
	}
}

func (f *fewFold) room() int { return max(f.most-len(f.keys), 0) }

func (f *fewFold) held() int { return cap(f.keys) }

func (f *fewFold) encode(w *pageWriter) *pb.ArrayEncoding { return w.few(&f.table, f.keys) }

// few encodes strings by their keys. Key 0 is null.
func (w *pageWriter) few(t *fewTable, keys []byte) *pb.ArrayEncoding {
	enc := withoutNulls(w.flat(8, keys))
	size := 0
	for _, s := range t.items[:t.n] {
		size += len(s)
	}
	begin := len(w.ends)
	text := w.room(size)[:0]
	for _, s := range t.items[:t.n] {
		text = append(text, s...)
		w.ends = binary.LittleEndian.AppendUint64(w.ends, uint64(len(text)))
	}
	count := t.n
	if count == 0 { // Lance can't read a dictionary without items: one that is null
		w.ends = binary.LittleEndian.AppendUint64(w.ends, 1)
		count = 1
	}
	// Never compressed: no error either.
	items, _ := w.binaryOf(w.ends[begin:], text, uint64(size)+1, compression{})
	return dictionaryOf(enc, items, count)
}
