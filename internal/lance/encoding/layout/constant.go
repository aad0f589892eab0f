package layout

import (
	"bytes"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// keptLevels is the size up to which a page's levels are kept as they lie in the file, so that they are asked for
// but once.
const keptLevels = 64 << 10

// constant is a page of which all values are the same: null, or one that lies in the
// layout or in a buffer. Only its levels take space.
type constant struct {
	frame
	value []byte // nil: null
	// levels tells that there are buffers with levels, valued that the first buffer has the value.
	levels, valued bool
	rep, def       levelBuffer

	// Once loaded: how many rows start before each grain of levels; nil without lists.
	rows []uint64
}

func newConstant(f frame, l *pb.PageLayout_Constant) (*constant, error) {
	c := &constant{frame: f}
	var err error
	if c.meaning, err = f.meaningOf(l.GetLayers()); err != nil {
		return nil, err
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
	if c.levels {
		return c, c.openLevels(l)
	}
	if c.meaning.MaxRep > 0 {
		return nil, corrupt("no repetition levels for %d lists", c.meaning.MaxRep)
	}
	return c, nil
}

// openLevels looks at what the page says of its levels.
func (c *constant) openLevels(l *pb.PageLayout_Constant) (err error) {
	at := len(c.buffers) - 2
	if c.rep, err = openLevels(c.buffers[at], l.GetRepCompression(), l.GetNumRepValues()); err != nil {
		return fmt.Errorf("repetition levels: %w", err)
	}
	if c.def, err = openLevels(c.buffers[at+1], l.GetDefCompression(), l.GetNumDefValues()); err != nil {
		return fmt.Errorf("definition levels: %w", err)
	}
	switch rep, def := c.rep.N(), c.def.N(); {
	case (rep > 0) != (c.meaning.MaxRep > 0):
		return corrupt("%d repetition levels for %d lists", rep, c.meaning.MaxRep)
	case rep > 0 && def > 0 && rep != def:
		return corrupt("%d repetition and %d definition levels", rep, def)
	case def == 0 && c.meaning.MaxDef > 0:
		return corrupt("no definition levels, the highest of which is %d", c.meaning.MaxDef)
	case rep == 0 && def > 0 && uint64(def) != c.starts:
		return corrupt("%d levels for %d rows", def, c.starts)
	}
	return nil
}

// small tells whether the levels are kept.
func (c *constant) small() bool {
	return c.levels && c.rep.span.Size+c.def.span.Size <= keptLevels
}

func (c *constant) meta() []datafile.Span {
	if c.small() || !c.levels {
		return c.buffers
	}
	return c.buffers[:len(c.buffers)-2]
}

func (c *constant) held() int64 {
	return 256 + int64(len(c.value)) + 8*int64(cap(c.rows)) + c.rep.held() + c.def.held()
}

// load takes the value and small levels. They are copied, since they may lie among much that nobody else needs any more.
func (c *constant) load(bufs [][]byte, _ int64) error {
	if c.valued {
		c.value, bufs = bytes.Clone(bufs[0]), bufs[1:]
		if c.value == nil {
			c.value = []byte{}
		}
	}
	if c.small() {
		c.rep.kept, c.def.kept = bytes.Clone(bufs[0]), bytes.Clone(bufs[1])
	}
	return nil
}

// survey goes through the levels, once, for what is needed to find those of given rows.
func (c *constant) survey(get func(datafile.Span) ([]byte, error), limit int64) error {
	if !c.levels {
		return nil
	}
	if err := c.rep.load(get, limit); err != nil {
		return fmt.Errorf("repetition levels: %w", err)
	}
	if err := c.def.load(get, limit); err != nil {
		return fmt.Errorf("definition levels: %w", err)
	}
	if c.rep.N() == 0 {
		return nil
	}
	if err := c.countRows(get); err != nil {
		return fmt.Errorf("repetition levels: %w", err)
	}
	return nil
}

func (c *constant) index(uint64, uint64) []datafile.Span { return nil }

func (c *constant) data(from, to uint64, _ [][]byte) ([]datafile.Span, error) {
	if !c.levels || c.small() {
		return nil, nil
	}
	a, b := c.grains(from*c.stride, to*c.stride)
	return append(c.rep.spans(a, b), c.def.spans(a, b)...), nil
}
