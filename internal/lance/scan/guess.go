package scan

import (
	"math/bits"
	"sort"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// guessSlack is how much more is fetched than the share of a buffer that rows have
// on average: about a chunk of values.
const guessSlack = 32 << 10

// pageMap is where the pages of a part lie, to guess what of them some rows need. A
// reader can't say that of a page before it has seen its first bytes, but with a few
// million rows ahead to be read, pages of which nothing has been seen yet are most
// of what has to be fetched ahead.
type pageMap []pageColumn

// pageColumn are the pages of one column, by their first row.
type pageColumn struct {
	starts []uint64 // one more than pages
	pages  [][]datafile.Span
}

// mapPages maps the pages of all columns of a field.
func mapPages(d *datafile.File, f column.Field, rows uint64) pageMap {
	var m pageMap
	if f.Column != column.Absent {
		if c, ok := mapColumn(d, f.Column, rows); ok {
			m = append(m, c)
		}
	}
	for _, k := range f.Children {
		m = append(m, mapPages(d, k, rows)...)
	}
	return m
}

func mapColumn(d *datafile.File, number int, rows uint64) (c pageColumn, ok bool) {
	pages := d.Columns[number].GetPages()
	if len(pages) == 0 {
		return c, false
	}
	for _, p := range pages {
		start := p.GetPriority()
		if n := len(c.starts); n > 0 && start < c.starts[n-1] || start > rows {
			return c, false // nothing to guess from
		}
		var spans []datafile.Span
		for i, off := range p.GetBufferOffsets() {
			spans = append(spans, datafile.Span{Pos: off, Size: p.GetBufferSizes()[i]})
		}
		c.starts, c.pages = append(c.starts, start), append(c.pages, spans)
	}
	c.starts = append(c.starts, rows)
	return c, true
}

// guess adds to what a reader says that it needs for rows [from, to), in order of
// position, the share that these rows have of each buffer of which it says too little.
func (m pageMap) guess(from, to uint64, known, out []datafile.Span) []datafile.Span {
	for _, c := range m {
		i := max(sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > from })-1, 0)
		for ; i < len(c.pages) && c.starts[i] < to; i++ {
			first, end := c.starts[i], c.starts[i+1]
			if first >= end {
				continue
			}
			a, b := max(from, first)-first, min(to, end)-first
			for _, buf := range c.pages[i] {
				low, high := part64(buf.Size, a, end-first), part64(buf.Size, b, end-first)
				if overlap(known, buf) >= (high-low)/2 {
					continue
				}
				low -= min(low, guessSlack)
				high = min(high+guessSlack, buf.Size)
				out = append(out, datafile.Span{Pos: buf.Pos + low, Size: high - low})
			}
		}
	}
	return out
}

// part64 is size*n/of for n <= of.
func part64(size, n, of uint64) uint64 {
	hi, lo := bits.Mul64(size, n)
	q, _ := bits.Div64(hi, lo, of)
	return q
}

// overlap is how many bytes of a buffer lie in spans that are ordered by position.
func overlap(spans []datafile.Span, buf datafile.Span) (n uint64) {
	end := buf.Pos + buf.Size
	i := sort.Search(len(spans), func(i int) bool { return spans[i].Pos+spans[i].Size > buf.Pos })
	for ; i < len(spans) && spans[i].Pos < end; i++ {
		n += min(end, spans[i].Pos+spans[i].Size) - max(buf.Pos, spans[i].Pos)
	}
	return n
}
