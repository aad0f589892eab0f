package layout

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// words is the dictionary of a page of a leaf of Arrow's dictionary type: the words that are used in
// it, in the order in which they come first. Those of arrays with different dictionaries become one.
type words struct {
	typ    *arrow.DictionaryType
	values *block.Values
	// most is how many words the index type can tell apart.
	most int
	at   map[string]uint64

	// of is the last dictionary, with the place of each of its words; unused for those that were not needed yet.
	of     arrow.Array
	places []uint64
}

const unused = ^uint64(0)

func newWords(dt *arrow.DictionaryType) (*words, error) {
	v, err := newValues(dt.ValueType, maxHeld)
	if err != nil {
		return nil, err
	}
	if v == nil || v.Kind != block.Variable && (v.Kind != block.Fixed || v.Bits < 8) {
		return nil, unsupported("a dictionary of %v", dt.ValueType)
	}
	w := &words{typ: dt, values: v, most: 1<<31 - 1, at: make(map[string]uint64)}
	switch dt.IndexType.ID() {
	case arrow.INT8:
		w.most = 1 << 7
	case arrow.UINT8:
		w.most = 1 << 8
	case arrow.INT16:
		w.most = 1 << 15
	case arrow.UINT16:
		w.most = 1 << 16
	}
	return w, nil
}

func (w *words) reset() {
	reset(w.values)
	clear(w.at)
	w.forget()
}

func (w *words) forget() { w.of, w.places = nil, w.places[:0] }

// room tells whether the words of entries [from, to) of a dictionary array fit beside those that are there.
func (w *words) room(a arrow.Array, from, to int) bool {
	d, ok := a.(*array.Dictionary)
	if !ok || w.values.N+d.Dictionary().Len() <= w.most {
		return true
	}
	all := plainArray(d.Dictionary())
	seen := make([]bool, all.Len())
	n := w.values.N
	for i := from; i < to && n <= w.most; i++ {
		if d.IsNull(i) {
			continue
		}
		ix := d.GetValueIndex(i)
		if ix < 0 || ix >= len(seen) {
			return true // append tells what is wrong
		}
		if !seen[ix] && all.IsValid(ix) && !w.has(all, ix) {
			n++
		}
		seen[ix] = true
	}
	return n <= w.most
}

// has tells whether a word is there.
func (w *words) has(all arrow.Array, ix int) bool {
	had := len(w.values.Data)
	if err := w.values.AppendArray(all, ix, ix+1); err != nil {
		return false
	}
	_, ok := w.at[string(w.values.Data[had:])]
	w.drop(had)
	return ok
}

// drop takes the last value away, whose bytes begin there.
func (w *words) drop(had int) {
	w.values.Data = w.values.Data[:had]
	if w.values.Kind == block.Variable {
		w.values.Offsets = w.values.Offsets[:w.values.N]
	}
	w.values.N--
}

// append adds the indices of entries [from, to) of a dictionary array to dst.
func (w *words) append(dst *block.Values, a arrow.Array, from, to int) error {
	d, ok := a.(*array.Dictionary)
	if !ok {
		return unsupported("a %v where dictionaries are", a.DataType())
	}
	all := plainArray(d.Dictionary())
	if w.of == nil || w.of.Data() != d.Dictionary().Data() {
		w.of, w.places = d.Dictionary(), w.places[:0]
		for range all.Len() {
			w.places = append(w.places, unused)
		}
	}
	width := dst.Bits / 8
	for i := from; i < to; i++ {
		place := uint64(0)
		if d.IsValid(i) {
			ix := d.GetValueIndex(i)
			if ix < 0 || ix >= len(w.places) {
				return corrupt("index %d into a dictionary of %d values", ix, len(w.places))
			}
			if all.IsValid(ix) {
				if place = w.places[ix]; place == unused {
					var err error
					if place, err = w.place(all, ix); err != nil {
						return err
					}
					w.places[ix] = place
				}
			}
		}
		dst.Data = appendUint(dst.Data, place, width)
	}
	dst.N += to - from
	return nil
}

// place finds a word, or adds it.
func (w *words) place(all arrow.Array, ix int) (uint64, error) {
	had := len(w.values.Data)
	if err := w.values.AppendArray(all, ix, ix+1); err != nil {
		return 0, err
	}
	b := w.values.Data[had:]
	if at, ok := w.at[string(b)]; ok {
		w.drop(had)
		return at, nil
	}
	at := uint64(w.values.N - 1)
	if w.values.N > w.most {
		return 0, unsupported("%d words for indices of type %v", w.values.N, w.typ.IndexType)
	}
	w.at[string(b)] = at
	return at, nil
}

// isDescriptorV1 tells whether a blob's descriptors are those of the first kind.
func isDescriptorV1(dt arrow.DataType) bool {
	st, ok := column.Storage(dt).(*arrow.StructType)
	return ok && st.NumFields() == 2
}
