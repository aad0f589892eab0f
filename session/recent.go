package session

import "container/list"

// recent is a map of bounded size; what was not used for longest goes first. The caller
// has the lock.
type recent[V any] struct {
	limit int
	order list.List // of *pair[V], the one used last in front
	at    map[string]*list.Element
}

type pair[V any] struct {
	key   string
	value V
}

func newRecent[V any](limit int) recent[V] {
	return recent[V]{limit: limit, at: make(map[string]*list.Element)}
}

func (r *recent[V]) len() int { return len(r.at) }

// get returns the value of a key and counts that as a use.
func (r *recent[V]) get(key string) (v V, ok bool) {
	e := r.at[key]
	if e == nil {
		return v, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*pair[V]).value, true
}

func (r *recent[V]) put(key string, v V) {
	if e := r.at[key]; e != nil {
		e.Value.(*pair[V]).value = v
		r.order.MoveToFront(e)
		return
	}
	r.at[key] = r.order.PushFront(&pair[V]{key, v})
	for len(r.at) > r.limit {
		last := r.order.Remove(r.order.Back()).(*pair[V])
		delete(r.at, last.key)
	}
}

func (r *recent[V]) remove(key string) {
	if e := r.at[key]; e != nil {
		r.order.Remove(e)
		delete(r.at, key)
	}
}

func (r *recent[V]) clear() {
	r.order.Init()
	clear(r.at)
}
