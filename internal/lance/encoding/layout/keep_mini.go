package layout

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// keepMini takes the rows of a mini-block page. All chunks but the last have a power of two of values, so that chunks
// are as they were only up to the first row that is gone, or where whole chunks go; from there on new ones are filled.
func keepMini(f frame, l *pb.PageLayout_MiniBlock, buffers [][]byte, keep []column.Range, limit int64, mem *slab.Arena) (*pb.PageLayout, [][]byte, error) {
	m, err := newMiniBlock(f, l)
	if err != nil {
		return nil, nil, err
	}
	if err := m.loadTable(buffers[0]); err != nil {
		return nil, nil, err
	}
	if m.depth > 0 {
		if err := m.loadIndex(buffers[len(buffers)-1]); err != nil {
			return nil, nil, err
		}
	}
	k := &miniKeeper{miniBlock: m, layout: l, bytes: buffers[1], rows: column.RowsOf(keep), limit: limit, to: mem, at: -1, buffers: make([][]byte, m.values.Buffers())}
	if k.stored, err = block.NewChunk(block.Stored(l.GetValueCompression())); err != nil {
		return nil, nil, err
	}
	if k.stored.Buffers() != len(k.buffers) {
		return nil, nil, errAnew
	}
	k.borrow()
	defer k.giveBack()
	k.plan(buffers)
	for _, r := range keep {
		if err := k.take(r); err != nil {
			return nil, nil, err
		}
	}
	if err := k.finish(); err != nil {
		return nil, nil, err
	}
	return k.page(buffers)
}

// miniKeeper takes rows out of a mini-block page.
type miniKeeper struct {
	*miniBlock
	layout *pb.PageLayout_MiniBlock
	bytes  []byte // of all chunks
	rows   uint64 // that are taken
	limit  int64
	to     *slab.Arena // memory of the page that comes out
	// stored decodes values as far as needed to take some of them.
	stored block.Chunk
	// copies: chunks may be copied. counts: it has to be found out how much of the dictionary is used.
	copies, counts     bool
	repLevel, defLevel *block.LevelEncoder // nil: to be chosen

	// out and table are the chunks that were copied, copied how many values they have.
	out, table []byte
	copied     uint64
	taken      *block.Values // since
	// The chunk that is being worked on: its levels, its buffers, and which of its values are wanted.
	at       int
	rep, def []uint16
	buffers  [][]byte
	wanted   []span
	whole    *block.Values
	keepSpace
}

type span struct{ from, to int }

// largePacked is the size of bit-packed chunks from which on one of them more makes no difference.
const largePacked = 256 << 10

// plan decides on what may be copied.
func (k *miniKeeper) plan(buffers [][]byte) {
	// Of bit-packed values, the last chunk is as large as a full one, which without copies has another way out.
	k.copies = k.miniBlock.rep == nil && (k.layout.GetValueCompression().GetInlineBitpacking() == nil || len(buffers[1]) >= largePacked)
	if e := k.layout.GetDefCompression(); e != nil {
		k.defLevel = block.LevelEncoderOf(e, k.meaning.MaxDef)
		k.copies = k.copies && k.defLevel != nil
	}
	if k.dict == nil || k.dictItems == 0 {
		return
	}
	// Each row that goes takes a word with it at most, unless there are lists.
	gone := k.dictItems
	if k.miniBlock.rep == nil {
		gone = min(gone, k.starts-k.rows)
	}
	words := float64(len(buffers[2]))
	all := words + float64(len(buffers[1]))*float64(k.rows)/float64(k.starts)
	if words*float64(gone)/float64(k.dictItems) > tolerable*all {
		k.counts, k.copies = true, false
	}
}

// take takes rows.
func (k *miniKeeper) take(r column.Range) error {
	a, b := k.chunks(r.From, r.To)
	if a >= b {
		return corrupt("no chunk has rows %d to %d", r.From, r.To)
	}
	for c := a; c < b; c++ {
		if c != k.at {
			if err := k.finish(); err != nil {
				return err
			}
			if k.copies && k.taken.N == 0 && r.From <= k.first[c] && k.first[c+1] <= r.To {
				k.copy(c)
				continue
			}
			k.at, k.wanted = c, k.wanted[:0]
			if k.taken.N == 0 {
				k.reserve()
			}
			var err error
			if k.rep, k.def, err = k.split(k.bytes[k.pos[c]:k.pos[c+1]], k.buffers, &k.levels); err != nil {
				return k.fault(err)
			}
			if err := k.checkLevels(); err != nil {
				return k.fault(err)
			}
		}
		if err := k.slotsOf(r); err != nil {
			return k.fault(err)
		}
	}
	return nil
}

func (k *miniKeeper) fault(err error) error { return fmt.Errorf("mini-block chunk %d: %w", k.at, err) }

// checkLevels checks the levels of a chunk.
func (k *miniKeeper) checkLevels() error {
	n := int(k.first[k.at+1] - k.first[k.at])
	switch {
	case k.miniBlock.rep == nil && k.miniBlock.def != nil && len(k.def) != n:
		return corrupt("%d definition levels for %d values", len(k.def), n)
	case k.miniBlock.rep != nil && k.miniBlock.def != nil && len(k.def) != len(k.rep):
		return corrupt("%d repetition and %d definition levels", len(k.rep), len(k.def))
	case k.miniBlock.rep != nil && k.miniBlock.def == nil && len(k.rep) != n:
		return corrupt("%d repetition levels for %d values", len(k.rep), n)
	case !within(k.rep, k.meaning.MaxRep) || !within(k.def, k.meaning.MaxDef):
		return corrupt("levels above %d and %d", k.meaning.MaxRep, k.meaning.MaxDef)
	case k.miniBlock.rep != nil && k.miniBlock.def != nil && level.Count(k.def, k.meaning.MaxVisible) != n:
		return corrupt("%d values for %d places", n, level.Count(k.def, k.meaning.MaxVisible))
	}
	return nil
}

// slotsOf takes the levels of rows of the chunk, and notes their values.
func (k *miniKeeper) slotsOf(r column.Range) error {
	first, end := k.first[k.at], k.first[k.at+1]
	lo, hi := int(max(r.From, first)-first), int(min(r.To, end)-first)
	before, values := lo, hi-lo
	if k.miniBlock.rep != nil {
		var err error
		if lo, hi, err = k.slots(k.at, k.rep, r.From, r.To); err != nil {
			return err
		}
		if before, values = lo, hi-lo; k.miniBlock.def != nil {
			before, values = level.Count(k.def[:lo], k.meaning.MaxVisible), level.Count(k.def[lo:hi], k.meaning.MaxVisible)
		}
		k.reps = k.append(k.reps, k.rep[lo:hi])
	}
	if k.miniBlock.def != nil {
		k.defs = k.append(k.defs, k.def[lo:hi])
	}
	if 2*int64(cap(k.reps)+cap(k.defs)) > k.limit {
		return overLimit("%d levels", len(k.reps)+len(k.defs))
	}
	if values > 0 {
		k.wanted = append(k.wanted, span{before, before + values})
	}
	return nil
}

// finish takes the values of the chunk that are wanted.
func (k *miniKeeper) finish() error {
	if k.at < 0 {
		return nil
	}
	n := int(k.first[k.at+1] - k.first[k.at])
	if len(k.wanted) == 1 {
		w := k.wanted[0]
		if err := k.stored.Append(k.taken, k.buffers, n, w.from, w.to); err != nil {
			return k.fault(fmt.Errorf("values: %w", err))
		}
	} else if len(k.wanted) > 1 {
		reset(k.whole)
		if err := k.stored.Append(k.whole, k.buffers, n, 0, n); err != nil {
			return k.fault(fmt.Errorf("values: %w", err))
		}
		for _, w := range k.wanted {
			if err := k.taken.AppendValues(k.whole, w.from, w.to); err != nil {
				return k.fault(fmt.Errorf("values: %w", err))
			}
		}
	}
	k.at = -1
	return nil
}
