package layout

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
)

func (c *constant) read(from, to uint64, bufs [][]byte, out *sink) error {
	if err := c.fill(from*c.stride, to*c.stride, bufs, out); err != nil {
		return fmt.Errorf("constant: %w", err)
	}
	return nil
}

// fill appends the starts [from, to).
func (c *constant) fill(from, to uint64, bufs [][]byte, out *sink) error {
	if to-from > 64*uint64(out.limit) {
		return overLimit("%d values", to-from)
	}
	fill, err := filler(c.value, c.valued, out)
	if err != nil {
		return err
	}
	leveled := c.levels && c.def.N() > 0
	switch top := c.meaning.MaxDef; {
	case !leveled && (top > 1 || top > 0 && c.value != nil):
		return corrupt("no definition levels, the highest of which is %d", top)
	case !leveled && top == 0 && c.value == nil && out.values != nil:
		return corrupt("a constant page without its value")
	}
	return c.pieces(from, to, bufs, out.rep, out.def, func(rep, def []uint16, n int) error {
		switch {
		case def != nil:
			if c.value == nil && out.values != nil && level.Count(def, 0) > 0 {
				return corrupt("a page of nulls with values that are not null")
			}
		case c.meaning.MaxDef > 0:
			def = out.def[:n]
			for i := range def {
				def[i] = 1 // nothing but nulls
			}
			if out.emptyStructs {
				clear(def) // or nothing but structs without fields
			}
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
		return nil
	})
}
