package compact

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// A dictionary with keys of 8 or 16 bits may run out of keys: readers join the dictionaries of pages that they read together, and
// fail when the keys don't suffice. Columns of them are encoded anew, all of a file as one page, and merged as long as all words
// together, with null for one, have keys.

// narrowKeys are how many keys such types have.
var narrowKeys = map[string]int{"int8": 1 << 7, "uint8": 1 << 8, "int16": 1 << 15, "uint16": 1 << 16}

// Pages of fixed-size lists of structs can't be read together when they differ in where nulls are: Lance's readers miscount. Such
// columns, too, are one page of a file, of so many bytes at most before it is encoded anew, which bounds the memory
// that it takes.
const maxSingle = 4 << 20

// maxVocabulary is how many words a survey remembers in all.
const maxVocabulary = 1 << 21

// keysOf is how many words a column can have when that may not be enough; 0 for all others.
// The type is dict:{values}:{keys}:{ordered}.
func keysOf(f *pb.Field) (most int) {
	parts := strings.Split(f.GetLogicalType(), ":")
	if parts[0] != "dict" || len(parts) < 3 {
		return 0
	}
	return narrowKeys[parts[len(parts)-2]]
}

// dictionary is what one of a fragment, in a field, has in a file.
type dictionary struct {
	keys  int
	words []uint64
}

// words are some of a dictionary, as hashes; null is 0.
type words map[uint64]struct{}

// dictionariesOf reads which words the rows of a field use in each of its dictionaries with narrow keys, in the order of the
// schema.
func dictionariesOf(ctx context.Context, t *table.Table, f *pb.DataFragment, src *sources, x *topField) ([]dictionary, error) {
	s, err := scan.Open(ctx, t, scan.Options{Columns: []string{x.name}, Fragments: []uint64{f.GetId()}, StoredJSON: true, Files: src.open})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all := make([]words, len(x.keys))
	for i := range all {
		all[i] = make(words)
	}
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		at := 0
		err = eachDictionary(b.Column(0), func(d *array.Dictionary) error {
			if at == len(all) {
				return fmt.Errorf("%w: more dictionaries than its type has", column.ErrUnsupported)
			}
			at++
			return all[at-1].addFrom(d)
		})
		b.Release()
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", x.name, err)
		}
		for i, w := range all {
			if len(w) > x.keys[i] {
				return nil, fmt.Errorf("column %q: %w: a dictionary has %d words and null together, more than its keys tell apart", x.name, errUncopyable, len(w))
			}
		}
	}
	var out []dictionary
	for i, w := range all {
		out = append(out, dictionary{x.keys[i], slices.Collect(maps.Keys(w))})
	}
	return out, nil
}

// noWords are the dictionaries of a field of which a fragment holds nothing.
func noWords(x *topField) (out []dictionary) {
	for _, n := range x.keys {
		out = append(out, dictionary{n, []uint64{0}})
	}
	return out
}

// eachDictionary calls visit for every dictionary with narrow keys inside of an array, whichever that is.
func eachDictionary(a arrow.Array, visit func(*array.Dictionary) error) error {
	switch x := a.(type) {
	case *array.Dictionary:
		if t, ok := x.DataType().(*arrow.DictionaryType).IndexType.(arrow.FixedWidthDataType); ok && t.BitWidth() <= 16 {
			return visit(x)
		}
	case *array.Struct:
		for i := range x.NumField() {
			if err := eachDictionary(x.Field(i), visit); err != nil {
				return err
			}
		}
	case array.ListLike:
		from, to := int64(0), int64(0)
		if n := x.Len(); n > 0 {
			from, _ = x.ValueOffsets(0)
			_, to = x.ValueOffsets(n - 1)
		}
		kid := array.NewSlice(x.ListValues(), from, to)
		defer kid.Release()
		return eachDictionary(kid, visit)
	case array.ExtensionArray:
		return eachDictionary(x.Storage(), visit)
	}
	return nil
}

func (w words) addFrom(d *array.Dictionary) error {
	values := d.Dictionary()
	used := make([]bool, values.Len())
	null := false
	for i := range d.Len() {
		if d.IsNull(i) {
			null = true
			continue
		}
		k := d.GetValueIndex(i)
		if k < 0 || k >= len(used) {
			return fmt.Errorf("%w: key %d of a dictionary of %d words", column.ErrCorrupt, k, len(used))
		}
		used[k] = true
	}
	for k, is := range used {
		if !is {
			continue
		}
		if values.IsNull(k) {
			null = true
			continue
		}
		h := fnv.New64a()
		io.WriteString(h, values.ValueStr(k))
		w[h.Sum64()|1] = struct{}{}
	}
	if null {
		w[0] = struct{}{}
	}
	return nil
}

// together is what a run of fragments has to have in one page: the words of dictionaries, by field and place in it, and the bytes
// of fields.
type together struct {
	words map[[2]int]words
	bytes map[int]int64
}

func newTogether() together { return together{make(map[[2]int]words), make(map[int]int64)} }

// fits tells whether the words of a fragment have keys beside those that are there, and its bytes room.
func (t together) fits(f *Fragment) bool {
	for i, h := range f.held {
		if h.single > 0 && t.bytes[i]+h.single > maxSingle {
			return false
		}
		for k, d := range h.dictionaries {
			had := t.words[[2]int{i, k}]
			n := len(had)
			for _, w := range d.words {
				if _, there := had[w]; !there {
					n++
				}
			}
			if n > d.keys {
				return false
			}
		}
	}
	return true
}

// add adds a fragment.
func (t together) add(f *Fragment) {
	for i, h := range f.held {
		t.bytes[i] += h.single
		for k, d := range h.dictionaries {
			at := [2]int{i, k}
			if t.words[at] == nil {
				t.words[at] = make(words)
			}
			for _, w := range d.words {
				t.words[at][w] = struct{}{}
			}
		}
	}
}

// forget leaves fragments alone whose words would be more than are remembered at a time.
func (f *Facts) forget(most int) {
	n := 0
	for i := range f.Fragments {
		x := &f.Fragments[i]
		own := 0
		for _, h := range x.held {
			for _, d := range h.dictionaries {
				own += len(d.words)
			}
		}
		if n += own; own == 0 || n <= most || x.Blocked != "" {
			continue
		}
		n -= own
		x.Kind, x.Blocked, x.held = Unsupported, fmt.Sprintf("the %d words of its dictionaries and those of fragments before it are more than are compared at a time", own), nil
	}
}
