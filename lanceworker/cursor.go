package lanceworker

import (
	"cmp"
	"slices"
	"sync"
)

// cursor remembers the table after which the next sweep begins.
type cursor struct {
	mu struct {
		sync.Mutex
		after string
	}
}

func (c *cursor) set(table string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.after = table
}

// rotate puts the tables into the order in which a sweep takes them: by name,
// from the one after the cursor on.
func (c *cursor) rotate(tables []entry) []entry {
	byName := func(a, b entry) int { return cmp.Compare(encodeID(a.id), encodeID(b.id)) }
	sorted := slices.SortedFunc(slices.Values(tables), byName)
	c.mu.Lock()
	after := c.mu.after
	c.mu.Unlock()
	i := slices.IndexFunc(sorted, func(e entry) bool { return encodeID(e.id) > after })
	if i <= 0 {
		return sorted
	}
	return slices.Concat(sorted[i:], sorted[:i])
}
