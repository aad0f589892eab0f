package matrix

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Cell is one table of the matrix, as the Python side lists it.
type Cell struct {
	// Name says everything about it.
	Name string
	// Group is "flat", "nested", …; Release writes it, with Env set.
	Group, Release, Env string
	Version             string
	Pages, Nulls        string
}

// Written is what became of a cell.
type Written struct {
	Name string
	// Status is "ok"; "unwritten", when Lance refuses to write it; "unread", when Lance can't read what it
	// wrote; "differs", when Lance reads something else than was written.
	Status string
	// Reason of a refusal.
	Reason string
}

var particulars = regexp.MustCompile(`/\S+|\d+|[0-9a-f]{8}-\S+|\n(?s:.*)`)

// Kind is the reason without numbers and paths, for counting.
func (w Written) Kind() string {
	s := strings.TrimSpace(particulars.ReplaceAllString(w.Reason, "#"))
	if len(s) > 150 {
		s = s[:150] + "…"
	}
	return s
}

// Tally counts what pages are made of. It may be used from many goroutines.
type Tally struct {
	mu     sync.Mutex
	counts map[string]int
	Pages  int
}

// Add counts the pages of all data files of a table.
func (c *Tally) Add(ctx context.Context, t *table.Table) error {
	for f, err := range scan.Pages(ctx, t, scan.Options{}) {
		if err != nil {
			return err
		}
		for _, p := range f.Pages {
			c.page(fmt.Sprintf("%d.%d", f.Major, f.Minor), p.Layout, p.Encoding)
		}
	}
	return nil
}

// words are the names of encodings: they may have several parts.
var words = regexp.MustCompile(`[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*`)

// page counts the layout, and each encoding in it.
func (c *Tally) page(version, layout, encoding string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.Pages++
	seen := map[string]bool{version + " " + layout: true}
	for _, w := range words.FindAllString(encoding, -1) {
		seen[version+" "+layout+": "+w] = true
	}
	for w := range seen {
		c.counts[w]++
	}
}

// Count is how many pages have it: "2.1 full-zip", "2.1 full-zip: fsst".
func (c *Tally) Count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}

// String lists all counts, one a line.
func (c *Tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for w, n := range c.counts {
		lines = append(lines, fmt.Sprintf("%-40s %7d", w, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
