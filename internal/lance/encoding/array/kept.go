package array

import "sync"

// kept holds what was decoded of one page for the next Read of the column:
// decompressed buffers and dictionaries.
type kept struct {
	mu    sync.Mutex
	page  *page
	items map[any]any
	// size of all items.
	size int64
}

func (k *kept) get(p *page, key any) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.page != p {
		return nil, false
	}
	v, ok := k.items[key]
	return v, ok
}

// once returns what is kept under a key, or makes it and keeps it when all that is
// kept is no larger than the limit. Two that want the same thing make it once.
func (k *kept) once(p *page, key any, limit int64, make func() (v any, size int64, err error)) (any, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.page == p {
		if v, ok := k.items[key]; ok {
			return v, nil
		}
	}
	v, size, err := make()
	if err != nil {
		return nil, err
	}
	if k.page != p {
		k.page, k.items, k.size = p, map[any]any{}, 0
	}
	if size > limit-k.size {
		return v, nil
	}
	k.items[key] = v
	k.size += size
	return v, nil
}
