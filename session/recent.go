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

// put adds a value, or replaces that of the key, and returns those that it displaces.
func (r *recent[V]) put(key string, v V) (out []V) {
	if e := r.at[key]; e != nil {
		p := e.Value.(*pair[V])
		out = append(out, p.value)
		p.value = v
		r.order.MoveToFront(e)
		return out
	}
	r.at[key] = r.order.PushFront(&pair[V]{key, v})
	for len(r.at) > r.limit {
		last := r.order.Remove(r.order.Back()).(*pair[V])
		delete(r.at, last.key)
		out = append(out, last.value)
	}
	return out
}

// remove returns what was removed.
func (r *recent[V]) remove(key string) (out []V) {
	if e := r.at[key]; e != nil {
		out = append(out, r.order.Remove(e).(*pair[V]).value)
		delete(r.at, key)
	}
	return out
}

// clear returns what was removed.
func (r *recent[V]) clear() (out []V) {
	for e := r.order.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*pair[V]).value)
	}
	r.order.Init()
	clear(r.at)
	return out
}
