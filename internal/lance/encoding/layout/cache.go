package layout

import (
	"container/list"
	"sync"
)

// cacheBytes is how much memory the loaded pages of a field take at most; the page loaded
// last is kept whatever its size.
const cacheBytes = 8 << 20

// pageKey is a page of a leaf.
type pageKey struct{ leaf, page int }

// cache keeps loaded pages, those used last.
type cache struct {
	mu    sync.Mutex
	pages map[pageKey]*list.Element // of *kept
	// used lists them, the one used last first.
	used list.List
	held int64
}

type kept struct {
	key  pageKey
	page page
	held int64
}

func (c *cache) get(k pageKey) page {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.pages[k]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*kept).page
}

// put keeps a page. Two reads may load the same page at the same time; the later one
// replaces it.
func (c *cache) put(k pageKey, p page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages == nil {
		c.pages = make(map[pageKey]*list.Element)
	}
	if old := c.pages[k]; old != nil {
		c.drop(old)
	}
	e := &kept{k, p, p.held()}
	c.pages[k] = c.used.PushFront(e)
	for c.held += e.held; c.held > cacheBytes && c.used.Len() > 1; {
		c.drop(c.used.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	k := c.used.Remove(e).(*kept)
	delete(c.pages, k.key)
	c.held -= k.held
}
