package layout

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// keyStructural is the key of field metadata that asks for a layout.
const keyStructural = "lance-encoding:structural-encoding"

// appendAtOnce is the most rows that are taken in one go.
const appendAtOnce = 8 << 10

// leafWriter collects the values and levels of a page of one column.
type leafWriter struct {
	column int
	name   string
	typ    arrow.DataType
	blob   bool
	minor  int
	full   int64 // bytes of a full page
	// A page with fewer rows than fullRows is full with most bytes.
	most     int64
	fullRows uint64
	sink     column.Sink
	opts     block.EncodeOptions
	memory   slab.Arena // of the page that is being encoded
	// structural is the layout that the field asks for: "miniblock", "fullzip" or "".
	structural string

	// agreed is the layers of other pages of the column; nil when there are none.
	agreed []pb.PageLayout_Layer

	steps  []level.Step
	levels *level.Writer
	values *block.Values // nil for types without values; of blobs, and indices into words
	parts  *block.Parts  // all other values
	words  *words        // of a dictionary type
	bits   int64         // of the values, as Arrow has them
	first  uint64        // row of the file that the page begins with
	rows   uint64
	sparse sparse
}

func newLeafWriter(w way, field column.Field, minor int, sink column.Sink, o column.WriteOptions) (*leafWriter, error) {
	l := &leafWriter{column: field.Column, name: w.name, typ: field.Type, blob: field.Blob, minor: minor, full: o.PageBytes, most: max(o.MostBytes, o.PageBytes), fullRows: o.PageRows, sink: sink, steps: w.steps}
	onlyNeeded(l.steps)
	if l.agreed = o.Layers[l.column]; l.agreed != nil {
		if len(l.agreed) != len(l.steps) {
			return nil, l.fault(fmt.Errorf("%d layers of other pages for %d nodes", len(l.agreed), len(l.steps)))
		}
		for i := range len(l.steps) - 1 {
			l.steps[i].Always = l.agreed[len(l.steps)-1-i] == pb.PageLayout_NULLABLE_ITEM
		}
	}
	var path level.Path
	for _, s := range l.steps {
		path = append(path, s.Node)
	}
	if err := path.Check(); err != nil {
		return nil, l.fault(err)
	}
	if l.column < 0 {
		return nil, l.fault(errors.New("the file has no column for it"))
	}
	if _, ok := column.Storage(l.typ).(*arrow.DictionaryType); ok {
		// Readers up to Lance 14 give values without words a key that no word has, and call it valid where
		// the layers don't say otherwise, be it beneath a null.
		l.steps[len(l.steps)-1].Within = true
	}
	l.levels = level.NewWriter(l.steps)
	l.sparse = newSparse(path)
	var err error
	if l.values, err = newValues(l.typ, maxHeld); err != nil {
		return nil, l.fault(err)
	}
	// What a field asks for in words that nobody understands, it does not get; the values are the same.
	l.opts = optionsOf(field, minor)
	l.opts.Memory = &l.memory
	switch v, _ := field.Metadata.GetValue(keyStructural); strings.ToLower(v) {
	case "miniblock":
		l.structural = "miniblock"
	case "fullzip":
		l.structural = "fullzip"
	}
	if dt, ok := column.Storage(l.typ).(*arrow.DictionaryType); ok {
		if l.words, err = newWords(dt); err != nil {
			return nil, l.fault(err)
		}
		l.opts.OffsetBits = offsetBits(dt.ValueType)
	}
	if l.values != nil && l.words == nil && !l.blob {
		l.parts = block.NewParts(l.values)
	}
	return l, nil
}

// maxHeld bounds a page that is being collected: one of a single value of that size.
const maxHeld = 1 << 40

// optionsOf is how values of a field are to be encoded.
func optionsOf(field column.Field, minor int) block.EncodeOptions {
	o := block.EncodeOptions{Minor: minor, OffsetBits: offsetBits(field.Type)}
	o.Hints, _ = block.ParseHints(field.Metadata)
	if st, ok := column.Storage(field.Type).(*arrow.StructType); ok {
		for _, f := range st.Fields() {
			x := block.EncodeOptions{Minor: minor, OffsetBits: offsetBits(f.Type)}
			x.Hints, _ = block.ParseHints(f.Metadata)
			o.Fields = append(o.Fields, x)
		}
	}
	return o
}

// offsetBits is the width of the offsets of a type.
func offsetBits(dt arrow.DataType) int { return 8 * column.OffsetWidth(column.Storage(dt)) }

func (l *leafWriter) fault(err error) error {
	return fmt.Errorf("writing column %d (%s, %s): %w", l.column, l.name, l.typ, err)
}

// held is the memory that is taken, whether it is in use or kept for the next page.
func (l *leafWriter) held() int64 {
	n := l.levels.Held() + capacity(l.values)
	if l.parts != nil {
		n += l.parts.Held()
	}
	if l.words != nil {
		n += capacity(l.words.values) + 64*int64(len(l.words.at)) + 8*int64(cap(l.words.places))
	}
	return n
}

// release gives back memory that was kept for the next page.
func (l *leafWriter) release() error {
	var err error
	l.levels.Free()
	l.levels = level.NewWriter(l.steps)
	if l.parts == nil {
		l.values, err = newValues(l.typ, maxHeld)
	}
	if err == nil && l.words != nil {
		l.words, err = newWords(l.words.typ)
	}
	return err
}

// append takes rows of an array of the outermost node, as many at a time as fill a page.
func (l *leafWriter) append(a arrow.Array, from, to int) error {
	for from < to {
		n, bits := l.fitting(a, from, min(to, from+l.sparse.rows(l.levels.Slots())))
		if err := l.take(a, from, from+n, bits); err != nil {
			return err
		}
		from += n
		if full := l.limit(); l.bits >= 8*full || l.levels.Bytes() >= 2*full {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// limit is how many bytes of values make the page full.
func (l *leafWriter) limit() int64 {
	if l.rows < l.fullRows {
		return l.most
	}
	return l.full
}

// fitting is how many rows fill the page, the last of them with what it has beyond that, or
// all that there are; and their size.
func (l *leafWriter) fitting(a arrow.Array, from, to int) (rows int, bits int64) {
	room := 8*l.limit() - l.bits
	if bits = bitsAlong(l.steps, a, from, to); bits <= room {
		return to - from, bits
	}
	rows = 1 + sort.Search(to-from-1, func(n int) bool { return bitsAlong(l.steps, a, from, from+n+1) >= room })
	return rows, bitsAlong(l.steps, a, from, from+rows)
}

// take adds rows to the page.
func (l *leafWriter) take(a arrow.Array, from, to int, bits int64) error {
	if l.rows > 0 && !l.joins(a, from, to) {
		if err := l.flush(); err != nil {
			return err
		}
	}
	if l.blob {
		return l.takeBlobs(a, from, to)
	}
	leaf, spans, err := l.levels.Append(a, from, to)
	if err != nil {
		return err
	}
	for _, s := range spans {
		switch {
		case l.words != nil:
			err = l.words.append(l.values, leaf, s.From, s.To)
		case l.parts != nil:
			err = l.parts.AppendArray(leaf, s.From, s.To)
		}
		if err != nil {
			return err
		}
	}
	l.rows += uint64(to - from)
	l.bits += bits
	if l.values != nil {
		l.sparse.saw(l.levels.Slots(), l.count())
	}
	return nil
}

// joins tells whether rows can be in the page that is being collected.
func (l *leafWriter) joins(a arrow.Array, from, to int) bool {
	leaf, from, to := along(l.steps, a, from, to)
	if l.words != nil && !l.words.room(leaf, from, to) {
		return false // the index type has no more of them in one page
	}
	switch {
	case l.values == nil:
		return true
	case l.minor >= 2:
		return from == to && l.count() == 0 || l.sparse.room(l.levels.Slots())
	}
	// Levels without values are not packed, so that of a long stretch of them the last ones wait for a value, too.
	return l.sparse.room(l.levels.Slots()) && (from == to || !l.sparse.starts(l.levels.Slots(), l.count()))
}

// count is how many values there are.
func (l *leafWriter) count() int {
	if l.parts != nil {
		return l.parts.N()
	}
	return l.values.N
}

// flush writes the page, if there is one.
func (l *leafWriter) flush() error {
	if l.rows == 0 {
		return nil
	}
	lv := l.levels.Take()
	for i := 1; i < len(l.agreed); i++ {
		if lv.Layers[i] == pb.PageLayout_NULLABLE_ITEM && l.agreed[i] == pb.PageLayout_ALL_VALID_ITEM {
			return fmt.Errorf("%w: layers %v and %v", column.ErrDisagree, lv.Layers, l.agreed)
		}
	}
	layout, buffers, err := l.encode(lv)
	if err != nil {
		return err
	}
	p := column.Page{Column: l.column, Length: uint64(lv.Starts), Priority: l.first, Buffers: buffers}
	if p.Encoding, err = column.Pack("/"+layoutType, layout); err != nil {
		return err
	}
	if err := l.sink.Page(p); err != nil {
		return err
	}
	l.memory.Free()
	l.first += l.rows
	l.rows, l.bits = 0, 0
	l.sparse.reset()
	if l.parts != nil {
		l.parts.Free()
	} else {
		reset(l.values)
	}
	if l.words != nil {
		l.words.reset()
	}
	return nil
}
