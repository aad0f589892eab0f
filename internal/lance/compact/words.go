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
func keysOf(f *pb.Field) (name string, most int) {
	parts := strings.Split(f.GetLogicalType(), ":")
	if parts[0] != "dict" || len(parts) < 3 {
		return "", 0
	}
	name = parts[len(parts)-2]
	return name, narrowKeys[name]
}

// words are some of a column, as hashes; null is 0.
type words map[uint64]struct{}

// wordsOf reads which words the rows of a column use.
func wordsOf(ctx context.Context, t *table.Table, f *pb.DataFragment, src *sources, x *topField) ([]uint64, error) {
	s, err := scan.Open(ctx, t, scan.Options{Columns: []string{x.name}, Fragments: []uint64{f.GetId()}, StoredJSON: true, Files: src.open})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all := make(words)
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return slices.Collect(maps.Keys(all)), nil
		}
		if err != nil {
			return nil, err
		}
		err = all.addFrom(b.Column(0))
		b.Release()
		if err == nil && len(all) > x.keys {
			err = fmt.Errorf("%w: its dictionary has %d words and null together, more than its keys tell apart", errUncopyable, len(all))
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", x.name, err)
		}
	}
}

func (w words) addFrom(a arrow.Array) error {
	d, ok := a.(*array.Dictionary)
	if !ok {
		return fmt.Errorf("%w: %s where a dictionary is expected", column.ErrUnsupported, a.DataType())
	}
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

// together is what a run of fragments has to have in one page, by field: the words of dictionaries, and bytes.
type together struct {
	words map[int]words
	bytes map[int]int64
}

func newTogether() together { return together{make(map[int]words), make(map[int]int64)} }

// fits tells whether the words of a fragment have keys beside those that are there, and its bytes room.
func (t together) fits(f *Fragment) bool {
	v := t.words
	for i, h := range f.held {
		if h.single > 0 && t.bytes[i]+h.single > maxSingle {
			return false
		}
		if h.words == nil || v[i] == nil {
			continue
		}
		n := len(v[i])
		for _, w := range h.words {
			if _, there := v[i][w]; !there {
				n++
			}
		}
		if n > h.keys {
			return false
		}
	}
	return true
}

// add adds a fragment.
func (t together) add(f *Fragment) {
	v := t.words
	for i, h := range f.held {
		t.bytes[i] += h.single
		if h.words == nil {
			continue
		}
		if v[i] == nil {
			v[i] = make(words)
		}
		for _, w := range h.words {
			v[i][w] = struct{}{}
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
			own += len(h.words)
		}
		if n += own; own == 0 || n <= most || x.Blocked != "" {
			continue
		}
		n -= own
		x.Kind, x.Blocked, x.held = Unsupported, fmt.Sprintf("the %d words of its dictionaries and those of fragments before it are more than are compared at a time", own), nil
	}
}
