package lanceworker

import "sync"

// notices remembers what has been said of a table in the log, so that each
// reason is said once.
type notices struct {
	mu struct {
		sync.Mutex
		said map[string]string
	}
}

// set tells whether the text is news.
func (n *notices) set(table, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if said, ok := n.mu.said[table]; ok && said == text {
		return false
	}
	if n.mu.said == nil {
		n.mu.said = make(map[string]string)
	}
	n.mu.said[table] = text
	return true
}

// clear tells whether something had been said.
func (n *notices) clear(table string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ok := n.mu.said[table]
	delete(n.mu.said, table)
	return ok
}

// keep forgets the tables that are no more.
func (n *notices) keep(exists func(table string) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for table := range n.mu.said {
		if !exists(table) {
			delete(n.mu.said, table)
		}
	}
}
