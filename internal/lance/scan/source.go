package scan

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	// maxRequest is where one read becomes several side by side: about a chunk of a
	// cluster's files.
	maxRequest = 8 << 20
	// maxRequests is how many reads of a scan are under way at a time.
	maxRequests = 8
)

// source hands out bytes of one file, those that were fetched ahead without a copy.
type source struct {
	r    objects.Reader
	size uint64
	// slots limits the reads of the scan.
	slots chan struct{}
	waits *waits

	mu       sync.Mutex
	segments []*segment // by position
}

func newSource(r objects.Reader, slots chan struct{}, w *waits) *source {
	return &source{r: r, size: uint64(r.Entry().Size), slots: slots, waits: w}
}

// Fetch is column.Source's.
func (s *source) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	s.waits.asked.Add(1)
	out := make([][]byte, len(spans))
	found := make([][]*segment, len(spans))
	var missing []datafile.Span
	s.mu.Lock()
	for i, x := range spans {
		if x.Size == 0 {
			out[i] = []byte{}
		} else if found[i] = s.overlapping(x); len(found[i]) == 0 {
			missing = append(missing, x)
		}
	}
	s.mu.Unlock()
	var direct []*segment
	if len(missing) > 0 {
		s.waits.late.Add(1)
		var err error
		if direct, err = s.read(ctx, missing); err != nil {
			return nil, err
		}
	}
	for i, x := range spans {
		var err error
		switch {
		case out[i] != nil:
		case len(found[i]) == 0:
			out[i] = find(direct, x).part(x)
		case len(found[i]) == 1 && found[i][0].holds(x):
			if err = s.wait(ctx, found[i][0]); err == nil {
				out[i] = found[i][0].part(x)
			}
		default:
			out[i], err = s.piece(ctx, x, found[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// piece puts a span together from segments that each hold some of it, and
// reads what lies between them.
func (s *source) piece(ctx context.Context, x datafile.Span, segments []*segment) ([]byte, error) {
	if err := s.check(x); err != nil {
		return nil, err
	}
	out := make([]byte, x.Size)
	at := x.Pos
	read := func(end uint64) error {
		if end <= at {
			return nil
		}
		s.waits.late.Add(1)
		err := s.request(ctx, out[at-x.Pos:end-x.Pos], at)
		at = end
		return err
	}
	for _, seg := range segments {
		if seg.Pos+seg.Size <= at {
			continue
		}
		if err := read(seg.Pos); err != nil {
			return nil, err
		}
		if err := s.wait(ctx, seg); err != nil {
			return nil, err
		}
		n := copy(out[at-x.Pos:], seg.data[at-seg.Pos:])
		at += uint64(n)
	}
	return out, read(x.Pos + x.Size)
}

// overlapping are the segments that hold some of a span, in order; only one when
// that holds all of it. mu is held.
func (s *source) overlapping(x datafile.Span) (out []*segment) {
	if seg := s.find(x); seg != nil {
		return []*segment{seg}
	}
	for _, seg := range s.segments {
		if seg.Pos >= x.Pos && seg.Pos-x.Pos >= x.Size {
			break
		}
		if seg.Pos+seg.Size > x.Pos {
			out = append(out, seg)
		}
	}
	return out
}

func (s *source) wait(ctx context.Context, seg *segment) error {
	select {
	case <-seg.done:
	default:
		s.waits.late.Add(1)
		select {
		case <-seg.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return seg.err
}

// find is the segment that holds a span; mu is held.
func (s *source) find(x datafile.Span) *segment { return find(s.segments, x) }

// read reads spans that were not fetched ahead.
func (s *source) read(ctx context.Context, spans []datafile.Span) ([]*segment, error) {
	for _, x := range spans {
		if err := s.check(x); err != nil {
			return nil, err
		}
	}
	segments := join(spans, maxRequest)
	if len(segments) == 1 {
		s.load(ctx, segments[0])
		return segments, segments[0].err
	}
	var g errgroup.Group
	for _, seg := range segments {
		g.Go(func() error {
			s.load(ctx, seg)
			return seg.err
		})
	}
	return segments, g.Wait()
}

func (s *source) check(x datafile.Span) error {
	if x.Pos > s.size || x.Size > s.size-x.Pos {
		return fmt.Errorf("%w: %d bytes at %d of a file of %d", datafile.ErrCorrupt, x.Size, x.Pos, s.size)
	}
	return nil
}

// load reads a segment and tells who waits for it.
func (s *source) load(ctx context.Context, seg *segment) {
	defer close(seg.done)
	data := make([]byte, seg.Size)
	if seg.Size <= maxRequest {
		seg.err = s.request(ctx, data, seg.Pos)
	} else {
		g, ctx := errgroup.WithContext(ctx)
		for at := 0; at < len(data); at += maxRequest {
			g.Go(func() error {
				return s.request(ctx, data[at:min(at+maxRequest, len(data))], seg.Pos+uint64(at))
			})
		}
		seg.err = g.Wait()
	}
	if seg.err == nil {
		seg.data = data
	}
}

// request is one read of the store.
func (s *source) request(ctx context.Context, p []byte, pos uint64) error {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.slots }()
	if err := s.r.ReadAt(ctx, p, int64(pos)); err != nil {
		return fmt.Errorf("reading %d bytes at %d: %w", len(p), pos, err)
	}
	return nil
}

// add makes segments known; they are loaded by whoever adds them.
func (s *source) add(seg *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := sort.Search(len(s.segments), func(i int) bool { return s.segments[i].Pos > seg.Pos })
	s.segments = slices.Insert(s.segments, i, seg)
}

// use counts a further user of the segment that holds a span; nil when none does.
func (s *source) use(x datafile.Span) *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	seg := s.find(x)
	if seg != nil {
		seg.users++
	}
	return seg
}

// leave takes a user away. Nobody gets a segment any more whose last one left; its
// bytes live on in what was made of them.
func (s *source) leave(seg *segment) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg.users--; seg.users > 0 {
		return false
	}
	if i := slices.Index(s.segments, seg); i >= 0 {
		s.segments = slices.Delete(s.segments, i, i+1)
	}
	return true
}
