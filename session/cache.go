package session

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// entryBytes is about what an entry of a cache takes besides its value and the text
// of its key: two map slots, a list element, the key twice.
const entryBytes = 400

// cacheKey names an object that something was read from: this very one, by its token.
type cacheKey struct{ location, name, token string }

// cache keeps what was read of objects, bounded in bytes; what was not used for
// longest goes first. Objects without a token can't be told apart and are not kept.
type cache struct {
	limit                 int64
	hits, misses, evicted atomic.Int64

	mu struct {
		sync.Mutex
		bytes int64
		// order has the entries, the one used last in front.
		order   list.List
		entries map[cacheKey]*list.Element
		// places are the keys by location.
		places map[string]map[cacheKey]struct{}
	}
}

type cacheEntry struct {
	key   cacheKey
	value any
	size  int64
}

func newCache(limit int64) *cache {
	c := &cache{limit: limit}
	c.mu.entries = make(map[cacheKey]*list.Element)
	c.mu.places = make(map[string]map[cacheKey]struct{})
	return c
}

// get returns what is kept under a key, nil when there is nothing, and counts that.
func (c *cache) get(k cacheKey) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.mu.entries[k]
	if e == nil {
		c.misses.Add(1)
		return nil
	}
	c.hits.Add(1)
	c.mu.order.MoveToFront(e)
	return e.Value.(*cacheEntry).value
}

// peek is get without counting: for a second look, by who is about to read it.
func (c *cache) peek(k cacheKey) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.mu.entries[k]; e != nil {
		return e.Value.(*cacheEntry).value
	}
	return nil
}

// put keeps a value of that size unless current says, under the lock that forget takes, too, that the
// table has been left behind meanwhile.
func (c *cache) put(k cacheKey, value any, size int64, current func() bool) {
	size += entryBytes + 2*int64(len(k.location)+len(k.name)+len(k.token))
	if k.token == "" || size > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !current() {
		return
	}
	if e := c.mu.entries[k]; e != nil {
		c.remove(e) // the same, read twice
	}
	c.mu.entries[k] = c.mu.order.PushFront(&cacheEntry{k, value, size})
	if c.mu.places[k.location] == nil {
		c.mu.places[k.location] = make(map[cacheKey]struct{})
	}
	c.mu.places[k.location][k] = struct{}{}
	c.mu.bytes += size
	for c.mu.bytes > c.limit {
		c.remove(c.mu.order.Back())
		c.evicted.Add(1)
	}
}

// remove takes an entry out; mu is held.
func (c *cache) remove(e *list.Element) {
	x := c.mu.order.Remove(e).(*cacheEntry)
	delete(c.mu.entries, x.key)
	delete(c.mu.places[x.key.location], x.key)
	if len(c.mu.places[x.key.location]) == 0 {
		delete(c.mu.places, x.key.location)
	}
	c.mu.bytes -= x.size
}

// forget drops all that is kept of a location.
func (c *cache) forget(location string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.mu.places[location] {
		c.remove(c.mu.entries[k])
	}
}

// clear drops everything.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.order.Init()
	clear(c.mu.entries)
	clear(c.mu.places)
	c.mu.bytes = 0
}

func (c *cache) stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Hits: c.hits.Load(), Misses: c.misses.Load(), Evicted: c.evicted.Load(), Bytes: c.mu.bytes, Entries: len(c.mu.entries), Limit: c.limit}
}
