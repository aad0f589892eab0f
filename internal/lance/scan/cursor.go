package scan

// cursor goes through fragments and tells which of their rows an offset and a
// limit leave over.
type cursor struct {
	offset uint64
	// left is how many rows may still come; none means no limit.
	left  uint64
	bound bool
}

func newCursor(offset uint64, limit *uint64) *cursor {
	c := &cursor{offset: offset}
	if limit != nil {
		c.left, c.bound = *limit, true
	}
	return c
}

// done tells that no further row is wanted.
func (c *cursor) done() bool { return c.bound && c.left == 0 }

// everything tells that all further rows are wanted, so that nobody has to count them.
func (c *cursor) everything() bool { return c.offset == 0 && !c.bound }

// take passes a fragment of that many rows: the rows [from, to) of it are wanted.
func (c *cursor) take(rows uint64) (from, to uint64) {
	from = min(c.offset, rows)
	c.offset -= from
	n := rows - from
	if c.bound {
		n = min(n, c.left)
		c.left -= n
	}
	return from, from + n
}
