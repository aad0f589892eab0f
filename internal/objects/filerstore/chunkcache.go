package filerstore

import (
	"container/list"
	"context"
	"sync"
)

// chunkCache keeps the last chunks that had to be fetched whole, so that many
// small reads in one do not fetch it each time. File ids are never used twice,
// so an entry can't be stale. A chunk that is being fetched is waited for.
type chunkCache struct {
	limit int64

	mu   sync.Mutex
	size int64
	at   map[string]*list.Element
	// used holds *cached, the one used last in front.
	used list.List
}

type cached struct {
	fid  string
	done chan struct{}
	// data and err are set before done is closed.
	data []byte
	err  error
}

// get returns the chunk from memory, or else from fetch. The slice is shared:
// it must not be written to.
func (c *chunkCache) get(ctx context.Context, fid string, fetch func() ([]byte, error)) ([]byte, error) {
	for {
		c.mu.Lock()
		if el := c.at[fid]; el != nil {
			c.used.MoveToFront(el)
			e := el.Value.(*cached)
			c.mu.Unlock()
			select {
			case <-e.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if e.err == nil {
				return e.data, nil
			}
			// Its own context may be all that was wrong with that fetch, and it
			// has left the cache: have a go ourselves.
			continue
		}
		e := &cached{fid: fid, done: make(chan struct{})}
		if c.at == nil {
			c.at = map[string]*list.Element{}
		}
		el := c.used.PushFront(e)
		c.at[fid] = el
		c.mu.Unlock()

		e.data, e.err = fetch()
		c.mu.Lock()
		if e.err != nil {
			c.drop(el)
		} else {
			c.size += int64(len(e.data))
			c.evict(el)
		}
		c.mu.Unlock()
		close(e.done)
		return e.data, e.err
	}
}

// evict makes room by dropping what was used least recently. Whoever holds the
// slice goes on using it.
func (c *chunkCache) evict(fresh *list.Element) {
	for el := c.used.Back(); el != nil && c.size > c.limit; {
		prev := el.Prev()
		select {
		case <-el.Value.(*cached).done:
			c.size -= int64(len(el.Value.(*cached).data))
			c.drop(el)
		default:
			// Being fetched, and not counted yet; also the one just fetched.
		}
		el = prev
	}
	if c.size > c.limit {
		// It alone is more than the limit.
		c.size -= int64(len(fresh.Value.(*cached).data))
		c.drop(fresh)
	}
}

func (c *chunkCache) drop(el *list.Element) {
	c.used.Remove(el)
	delete(c.at, el.Value.(*cached).fid)
}
