package compact

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// maxGap is how many bytes between two page buffers are copied along rather
// than skipped: a request or system call costs more than they do.
const maxGap = 4 << 10

// newDataFile makes a name as Lance does: 24 binary digits, which spread over an
// object store's partitions, and the rest of a UUID in hex.
func newDataFile() string {
	id := uuid.New()
	var b strings.Builder
	for _, x := range id[:3] {
		fmt.Fprintf(&b, "%08b", x)
	}
	return b.String() + hex.EncodeToString(id[3:]) + ".lance"
}

// appendPage adds a page to a column. A struct's own column of 2.0 says how many
// structs there are and nothing else, and readers want it said in one page.
func appendPage(c *pb.ColumnMetadata, p *pb.ColumnMetadata_Page) error {
	if n := len(c.Pages); n > 0 && len(p.GetBufferOffsets()) == 0 && proto.Equal(c.Pages[n-1].GetEncoding(), p.GetEncoding()) {
		header, err := structHeader(p.GetEncoding())
		if err != nil {
			return err
		}
		if header {
			c.Pages[n-1].Length += p.GetLength()
			return nil
		}
	}
	c.Pages = append(c.Pages, p)
	return nil
}

// copyBuffers copies the page buffers of a source's columns, in the order in
// which they lie there, many at a time where they are neighbours.
func (o *output) copyBuffers(ctx context.Context, s *source, columns []sourceColumn) (moves, error) {
	var spans []datafile.Span
	for _, c := range columns {
		for _, p := range s.Columns[c.index].GetPages() {
			for i, off := range p.GetBufferOffsets() {
				if n := p.GetBufferSizes()[i]; n > 0 {
					spans = append(spans, datafile.Span{Pos: off, Size: n})
				}
			}
		}
	}
	var m moves
	for _, r := range runs(spans) {
		pos, err := o.w.Copy(ctx, s.Reader, r)
		if err != nil {
			return nil, err
		}
		m = append(m, move{r, pos})
		o.copied(int64(r.Size))
	}
	return m, nil
}

// runs joins spans that are neighbours, or nearly so. Each run starts at a multiple of the
// alignment, so that copied to another one every buffer in it stays as aligned as it was.
func runs(spans []datafile.Span) []datafile.Span {
	slices.SortFunc(spans, func(a, b datafile.Span) int {
		switch {
		case a.Pos < b.Pos:
			return -1
		case a.Pos > b.Pos:
			return 1
		}
		return 0
	})
	var out []datafile.Span
	for _, s := range spans {
		start, end := s.Pos&^(datafile.Alignment-1), s.Pos+s.Size
		if n := len(out); n > 0 {
			last := &out[n-1]
			if lastEnd := last.Pos + last.Size; start <= lastEnd+maxGap {
				last.Size = max(lastEnd, end) - last.Pos
				continue
			}
		}
		out = append(out, datafile.Span{Pos: start, Size: end - start})
	}
	return out
}

// moves say where ranges of a source went, in ascending order.
type moves []move

type move struct {
	from datafile.Span
	to   uint64
}

// move returns where a buffer went. An empty one has no place; it keeps its
// entry, since encodings count buffers.
func (m moves) move(off, size uint64) uint64 {
	if size == 0 {
		return 0
	}
	i, found := slices.BinarySearchFunc(m, off, func(x move, off uint64) int {
		switch {
		case x.from.Pos < off:
			return -1
		case x.from.Pos > off:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return m[i].to + off - m[i].from.Pos
}
