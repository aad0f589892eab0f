package catalog

import "path"

// pair holds the first two records, of those added, that are not the same.
type pair struct{ first, second int }

func (p *pair) add(i int) {
	switch {
	case p.first < 0:
		p.first = i
	case p.second < 0 && p.first != i:
		p.second = i
	}
}

// other returns a record that is not i, or -1.
func (p *pair) other(i int) int {
	if p == nil {
		return -1
	}
	if p.first != i {
		return p.first
	}
	return p.second
}

// overlaps finds for each record another one that keeps files at, above or
// below one of its directories, or -1. Cleaning either would take the other's
// files for garbage. That a record sits at such a path without keeping files
// there, as a new one under a renamed table's old name does, is no overlap.
func overlaps(records []record) []int {
	at, below := map[string]*pair{}, map[string]*pair{}
	add := func(m map[string]*pair, dir string, i int) {
		if m[dir] == nil {
			m[dir] = &pair{first: -1, second: -1}
		}
		m[dir].add(i)
	}
	for i, r := range records {
		for _, root := range r.roots {
			add(at, root, i)
			for dir := path.Dir(root); len(dir) > 1; dir = path.Dir(dir) {
				add(below, dir, i)
			}
		}
	}
	found := make([]int, len(records))
	for i, r := range records {
		found[i] = -1
		for _, root := range r.roots {
			for dir := root; found[i] < 0 && len(dir) > 1; dir = path.Dir(dir) {
				found[i] = at[dir].other(i)
			}
			if found[i] < 0 {
				found[i] = below[root].other(i)
			}
		}
	}
	return found
}
