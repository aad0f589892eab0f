package main

import (
	"fmt"
	"strings"
)

// compactTable is a table whose compaction is measured, as fragmented.py makes it.
type compactTable struct {
	name, about string
	// shape of the rows, and which of them are deleted.
	shape, deleted  string
	fragments, rows int
	// goals, as parts of what pylance's default mode takes; 0 is none. peak is in bytes and absolute.
	wall, cpu, memory float64
	peak              float64
	// pages: pylance's page copy is measured, too. reads: and what reading the result takes.
	pages, reads bool
}

var compactTables = []compactTable{
	{name: "a", about: "100 fragments of 5,000 rows: 128-d vectors, integers, strings", shape: "plain", fragments: 100, rows: 5000, wall: 0.7, cpu: 1, peak: 64e6, pages: true, reads: true},
	{name: "b", about: "1,000 fragments of 100 such rows", shape: "plain", fragments: 1000, rows: 100, wall: 1, pages: true, reads: true},
	{name: "c", about: "10 fragments of 100,000 rows of 12 columns, 0.1 % of the rows deleted at random", shape: "mixed", deleted: "scattered", fragments: 10, rows: 100_000, wall: 1, memory: 0.6},
	{name: "d", about: "the same with a range of 5 % of the rows deleted", shape: "mixed", deleted: "block", fragments: 10, rows: 100_000, wall: 0.4, memory: 0.6},
	{name: "e", about: "200 fragments of 500 rows: nested lists, strings of up to 2,000 bytes, few distinct values; each tenth row deleted", shape: "nested", deleted: "tenth", fragments: 200, rows: 500, wall: 1, memory: 0.8, reads: true},
	{name: "f", about: "60 fragments of 25 rows of 1.5 MB", shape: "large", fragments: 60, rows: 25, wall: 1, peak: 256e6},
}

// scaled is a table of so many times the rows: in fewer fragments, or in smaller ones where they are few.
func (t compactTable) scaled(by float64) compactTable {
	n := &t.fragments
	if t.rows >= 1000 {
		n = &t.rows
	}
	*n = max(int(float64(*n)*by), 4)
	return t
}

// tablesNamed are those of a list of names, all when it is empty.
func tablesNamed(list string) ([]compactTable, error) {
	if list == "" {
		return compactTables, nil
	}
	var out []compactTable
next:
	for name := range strings.SplitSeq(list, ",") {
		for _, t := range compactTables {
			if t.name == name {
				out = append(out, t)
				continue next
			}
		}
		return nil, fmt.Errorf("no table %q: there are a to %s", name, compactTables[len(compactTables)-1].name)
	}
	return out, nil
}
