package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
)

// group are fields of which the same rows are encoded.
type group struct {
	fields    []int
	stretches []stretch
	bytes     int64
	rows      uint64
}

// groups puts those of some fields together that can be decoded together.
func (o *output) groups(fields []int) (all []*group) {
	by := make(map[string]*group)
	for _, i := range fields {
		stretches := o.stretches[i]
		var anew []stretch
		var bytes int64
		var key strings.Builder
		for _, s := range stretches {
			if s.way == encoded {
				anew, bytes = append(anew, s), bytes+s.bytes
				fmt.Fprintf(&key, "%d:%d-%d ", s.frag, s.from, s.to)
			}
		}
		if len(anew) == 0 {
			continue
		}
		g := by[key.String()]
		if g == nil {
			g = &group{stretches: anew}
			for _, s := range anew {
				g.rows += s.live
			}
			by[key.String()], all = g, append(all, g)
		}
		g.fields, g.bytes = append(g.fields, i), g.bytes+bytes
	}
	return all
}

// encodeAll reads groups of fields, without deleted rows, and writes them anew.
func (o *output) encodeAll(ctx context.Context, groups []*group) error {
	for _, g := range apart(groups, o.limits.threads) {
		lanes := o.newLanes(g.fields)
		err := o.encode(ctx, g, lanes)
		if wrong := lanes.close(err != nil); wrong != nil {
			err = wrong // which is why nothing more could be given to them
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apart divides groups into such of as many fields as are encoded at a time: then no more than these wait with pages that
// are not full. What a fragment holds of a field is too little for that when it would be read for less than it costs to ask for it.
func apart(groups []*group, at int) (out []*group) {
	const worthReading = 4 << 10
	for _, g := range groups {
		n, reads := len(g.fields), int64(max(len(g.stretches), 1))
		if n <= at || g.bytes/(int64(n)*reads) < worthReading {
			out = append(out, g)
			continue
		}
		for fields := range slices.Chunk(g.fields, at) {
			part := *g
			part.fields, part.bytes = fields, g.bytes*int64(len(fields))/int64(n)
			out = append(out, &part)
		}
	}
	return out
}

// encode hands the rows of a group to its fields' lanes.
func (o *output) encode(ctx context.Context, g *group, l *lanes) error {
	for all := g.stretches; len(all) > 0; {
		// A scan goes by the manifest's order, which need not be that of the ids.
		n := 1
		for n < len(all) && o.rank(all[n-1]) <= o.rank(all[n]) {
			n++
		}
		if err := o.encodeSome(ctx, g, all[:n], l); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// rank is where a stretch's fragment stands in the manifest.
func (o *output) rank(s stretch) int { return o.order[o.frags[s.frag].GetId()] }

func (o *output) encodeSome(ctx context.Context, g *group, all []stretch, l *lanes) error {
	opts := scan.Options{StoredJSON: true, BatchBytes: o.limits.batch, ReadAhead: o.limits.ahead, Threads: o.limits.threads,
		Rows: make(map[uint64][]scan.Range), Deleted: o.deletions(), Files: o.files.open}
	for _, i := range g.fields {
		opts.Columns = append(opts.Columns, o.shape.fields[i].name)
	}
	for _, s := range all {
		id := o.frags[s.frag].GetId()
		opts.Rows[id] = append(opts.Rows[id], scan.Range{From: s.from, To: s.to})
	}
	s, err := scan.Open(ctx, o.t, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	// No batch holds rows of two ranges, and an error comes behind all rows that are before it.
	at := uint64(0)
	for {
		for len(all) > 1 && at == all[0].live {
			all, at = all[1:], 0
		}
		frag := o.frags[all[0].frag].GetId()
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &fragmentError{frag, err}
		}
		n := uint64(b.NumRows())
		if at+n > all[0].live {
			err = fmt.Errorf("%w: it has more rows than the manifest says", datafile.ErrCorrupt)
		}
		if err == nil {
			var columns []arrow.Array
			if columns, err = o.moveBlobs(ctx, o.frags[all[0].frag], g.fields, b); err == nil {
				err = l.give(ctx, columns, all[0].row+at, frag)
			}
		}
		at += n
		b.Release()
		if err != nil {
			return &fragmentError{frag, err}
		}
		o.done(share64(g.bytes, n, g.rows))
	}
	if at != all[0].live || len(all) > 1 {
		return &fragmentError{o.frags[all[0].frag].GetId(), fmt.Errorf("%w: it has fewer rows than the manifest says", datafile.ErrCorrupt)}
	}
	return nil
}
