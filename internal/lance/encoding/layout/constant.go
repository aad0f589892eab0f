package layout

import (
	"fmt"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// checkpointEvery is how many levels lie between two marks of how many rows were before.
const checkpointEvery = 1 << 12

// constant is a page of which all values are the same: null, or one that lies in the
// layout or in a buffer. Only its levels take space.
type constant struct {
	frame
	repCompression, defCompression block.Whole
	numRep, numDef                 uint64
	value                          []byte // nil: null
	// levels tells that there are buffers with levels, valued that the first buffer has the value.
	levels, valued bool

	// Once loaded.
	rep, def []uint16
	// rows are how many rows start before each checkpoint; nil without lists.
	rows []uint64
}

func newConstant(f frame, l *pb.PageLayout_Constant) (*constant, error) {
	c := &constant{frame: f, numRep: l.GetNumRepValues(), numDef: l.GetNumDefValues()}
	var err error
	if c.meaning, err = f.meaningOf(l.GetLayers()); err != nil {
		return nil, err
	}
	if e := l.GetRepCompression(); e != nil {
		if c.repCompression, err = block.NewWhole(e); err != nil {
			return nil, fmt.Errorf("repetition levels: %w", err)
		}
	}
	if e := l.GetDefCompression(); e != nil {
		if c.defCompression, err = block.NewWhole(e); err != nil {
			return nil, fmt.Errorf("definition levels: %w", err)
		}
	}
	if l.InlineValue != nil {
		if c.value = l.GetInlineValue(); c.value == nil {
			c.value = []byte{}
		}
	}
	switch len(f.buffers) {
	case 0:
	case 1, 3:
		if l.InlineValue != nil {
			return nil, corrupt("constant page of %d buffers with a value in its layout", len(f.buffers))
		}
		c.valued, c.levels = true, len(f.buffers) == 3
	case 2:
		c.levels = true
	default:
		return nil, corrupt("constant page of %d buffers", len(f.buffers))
	}
	if !c.levels && c.meaning.MaxRep > 0 {
		return nil, corrupt("no repetition levels for %d lists", c.meaning.MaxRep)
	}
	return c, nil
}

func (c *constant) meta() []datafile.Span { return c.buffers }

func (c *constant) held() int64 {
	return 256 + int64(len(c.value)) + 2*int64(cap(c.rep)+cap(c.def)) + 8*int64(len(c.rows))
}

func (c *constant) load(bufs [][]byte, limit int64) error {
	if c.valued {
		c.value, bufs = bufs[0], bufs[1:]
	}
	if !c.levels {
		return nil
	}
	var err error
	if c.rep, err = rawLevels(bufs[0], c.repCompression, c.numRep, limit); err != nil {
		return fmt.Errorf("repetition levels: %w", err)
	}
	if c.def, err = rawLevels(bufs[1], c.defCompression, c.numDef, limit); err != nil {
		return fmt.Errorf("definition levels: %w", err)
	}
	slots := len(c.def)
	if c.rep != nil {
		slots = len(c.rep)
		starts := uint64(0)
		for i, r := range c.rep {
			if i%checkpointEvery == 0 {
				c.rows = append(c.rows, starts)
			}
			if r == c.meaning.MaxRep {
				starts++
			}
		}
		if starts != c.starts {
			return corrupt("%d rows in the repetition levels of a page of %d", starts, c.starts)
		}
	}
	switch {
	case (c.rep != nil) != (c.meaning.MaxRep > 0):
		return corrupt("%d repetition levels for %d lists", len(c.rep), c.meaning.MaxRep)
	case c.rep != nil && c.def != nil && len(c.rep) != len(c.def):
		return corrupt("%d repetition and %d definition levels", len(c.rep), len(c.def))
	case c.def == nil && c.meaning.MaxDef > 0:
		return corrupt("no definition levels, the highest of which is %d", c.meaning.MaxDef)
	case c.rep == nil && c.def != nil && uint64(slots) != c.starts:
		return corrupt("%d levels for %d rows", slots, c.starts)
	}
	return nil
}

// rawLevels decodes a whole page's levels; without a compression they are plain. They
// are not changed by reading them, unlike those of chunks.
func rawLevels(data []byte, w block.Whole, n uint64, limit int64) ([]uint16, error) {
	if w == nil {
		if len(data)%2 != 0 || n != 0 && n != uint64(len(data)/2) {
			return nil, corrupt("%d levels in %d bytes", n, len(data))
		}
		if len(data) == 0 {
			return nil, nil
		}
		n = uint64(len(data) / 2)
	} else {
		if n > uint64(limit)/2 {
			return nil, overLimit("%d levels", n)
		}
		out, err := block.AppendLevels(nil, w, data, int(n), 2*int64(n)+64)
		if err == nil && uint64(len(out)) != n {
			err = corrupt("%d levels, %d expected", len(out), n)
		}
		return out, err
	}
	out := make([]uint16, n)
	copy(arrow.Uint16Traits.CastToBytes(out), data[:2*n])
	return out, nil
}

func (c *constant) index(uint64, uint64) []datafile.Span { return nil }

func (c *constant) data(uint64, uint64, [][]byte) ([]datafile.Span, error) { return nil, nil }

// slot finds the slot of a start.
func (c *constant) slot(start uint64) int {
	if c.rep == nil {
		return int(start)
	}
	if start >= c.starts {
		return len(c.rep)
	}
	at := sort.Search(len(c.rows), func(i int) bool { return c.rows[i] > start }) - 1
	return at*checkpointEvery + nth(c.rep[at*checkpointEvery:], c.meaning.MaxRep, start-c.rows[at])
}

func (c *constant) read(from, to uint64, _ [][]byte, out *sink) error {
	if err := c.fill(from, to, out); err != nil {
		return fmt.Errorf("constant: %w", err)
	}
	return nil
}

func (c *constant) fill(from, to uint64, out *sink) error {
	if (to-from)*c.stride > 64*uint64(out.limit) {
		return overLimit("%d rows", to-from)
	}
	lo, hi := c.slot(from*c.stride), c.slot(to*c.stride)
	fill, err := filler(c.value, c.valued, out)
	if err != nil {
		return err
	}
	switch top := c.meaning.MaxDef; {
	case c.def == nil && (top > 1 || top > 0 && c.value != nil):
		return corrupt("no definition levels, the highest of which is %d", top)
	case c.def == nil && top == 0 && c.value == nil && out.values != nil:
		return corrupt("a constant page without its value")
	case c.def != nil && c.value == nil && out.values != nil && level.Count(c.def[lo:hi], 0) > 0:
		return corrupt("a page of nulls with values that are not null")
	}
	for lo < hi {
		n := min(hi-lo, maxLevels)
		var rep, def []uint16
		if c.rep != nil {
			rep = out.rep[:copy(out.rep[:n], c.rep[lo:])]
		}
		switch {
		case c.def != nil:
			def = out.def[:copy(out.def[:n], c.def[lo:])]
		case c.meaning.MaxDef > 0:
			def = out.def[:n]
			for i := range def {
				def[i] = 1 // nothing but nulls
			}
		}
		if out.emptyStructs && c.def == nil {
			clear(def) // or nothing but structs without fields
		}
		taken, err := out.levels.Append(c.meaning, rep, def, n)
		if err != nil {
			return err
		}
		if err := out.update(); err != nil {
			return err
		}
		if err := fill(taken); err != nil {
			return err
		}
		if err := out.took(taken); err != nil {
			return err
		}
		if c.value == nil {
			out.null += taken
		}
		lo += n
	}
	return nil
}
