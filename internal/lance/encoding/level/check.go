package level

import "slices"

// check looks for levels that contradict each other.
func (b *Builder) check(m *Meaning, rep, def []uint16) error {
	if rep == nil {
		over := uint32(0)
		for _, d := range def {
			over |= uint32(m.MaxDef) - uint32(d)
		}
		if over>>31 != 0 {
			return corrupt("a definition level above %d", m.MaxDef)
		}
		if m.refused != nil && slices.Contains(def, 1) {
			return m.refused
		}
		return nil
	}
	if !b.started && rep[0] != m.MaxRep {
		return corrupt("the first level, %d, does not start a row (%d)", rep[0], m.MaxRep)
	}
	b.started = true
	open := b.open
	if def == nil {
		over := uint32(0)
		for _, r := range rep {
			over |= uint32(m.MaxRep) - uint32(r)
		}
		if over>>31 != 0 || open > rep[0] {
			return corrupt("a repetition level out of place, above %d or after an empty list", m.MaxRep)
		}
		b.open = 0
		return nil
	}
	for i, r := range rep {
		d := def[i]
		if r > m.MaxRep || d > m.MaxDef {
			return corrupt("levels %d and %d, of at most %d and %d", r, d, m.MaxRep, m.MaxDef)
		}
		end := m.ends[d]
		if end > r {
			return corrupt("a list goes on (repetition level %d) with a null above it (definition level %d)", r, d)
		}
		if open > r {
			return corrupt("a list without items goes on (repetition level %d)", r)
		}
		open = end
	}
	b.open = open
	return nil
}

// Count is how many definition levels are at most top. With a Meaning's MaxVisible these are the slots
// that have a place among the values.
func Count(def []uint16, top uint16) int {
	above := uint32(0)
	for _, d := range def {
		above += (uint32(top) - uint32(d)) >> 31
	}
	return len(def) - int(above)
}
