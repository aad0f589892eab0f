package array

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// slack is allowed beside the working memory, so that a small limit does not
// forbid the rounding of bitmaps and offsets.
const slack = 64 << 10

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrCorrupt, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrUnsupported, fmt.Sprintf(format, args...))
}

// read is one Read under way.
type read struct {
	ctx context.Context
	src column.Source
	*limits
	*queue
	// aside tells that what is decoded is no part of the result.
	aside bool
}

// limits are what the caller allowed, and what is left of it for the array and
// for what is needed on the way there.
type limits struct{ limit, result, work int64 }

// queue is the round of fetching that is being put together.
type queue struct {
	spans []datafile.Span
	into  []*[]byte
	next  []step
	// at is the page on whose behalf things are asked for.
	at *page
}

// step is what goes on once the bytes of a round are there.
type step struct {
	at *page
	do func() error
}

func newRead(ctx context.Context, src column.Source, limit int64) *read {
	limit = min(max(limit, 0), math.MaxInt/4)
	work := 2 * limit
	return &read{ctx: ctx, src: src, limits: &limits{limit, limit, work + slack}, queue: &queue{}}
}

// beside is the same read, for what is decoded in working memory.
func (r *read) beside() *read {
	s := *r
	s.aside = true
	return &s
}

// take claims bytes of the result.
func (r *read) take(n uint64) error {
	if r.aside {
		return r.borrow(n)
	}
	if n > uint64(r.result) {
		return fmt.Errorf("%w: %d bytes more than the %d left of %d", column.ErrLimit, n, r.result, r.limit)
	}
	r.result -= int64(n)
	return nil
}

// borrow claims bytes of working memory. Nothing is given back before the Read ends.
func (r *read) borrow(n uint64) error {
	if n > uint64(r.work) {
		return fmt.Errorf("%w: %d bytes to work with, %d left beside %d of values", column.ErrLimit, n, r.work, r.limit)
	}
	r.work -= int64(n)
	return nil
}

// want has a span fetched in the next round.
func (r *read) want(s datafile.Span, into *[]byte) error {
	if s.Size == 0 {
		*into = nil
		return nil
	}
	if err := r.borrow(s.Size); err != nil {
		return err
	}
	r.spans = append(r.spans, s)
	r.into = append(r.into, into)
	return nil
}

// then has a function called after the next round; it may ask for more.
func (r *read) then(do func() error) { r.next = append(r.next, step{r.at, do}) }

// run fetches rounds until nothing more is asked for.
func (r *read) run() error {
	for len(r.spans) > 0 || len(r.next) > 0 {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		spans, into, next := r.spans, r.into, r.next
		r.spans, r.into, r.next = nil, nil, nil
		if len(spans) > 0 {
			got, err := r.src.Fetch(r.ctx, spans)
			if err != nil {
				return err
			}
			if len(got) != len(spans) {
				return fmt.Errorf("fetching %d spans brought %d", len(spans), len(got))
			}
			for i, b := range got {
				if uint64(len(b)) != spans[i].Size {
					return fmt.Errorf("fetching %d bytes at %d brought %d", spans[i].Size, spans[i].Pos, len(b))
				}
				*into[i] = b
			}
		}
		for _, s := range next {
			r.at = s.at
			err := s.do()
			r.at = nil
			if err != nil {
				return s.at.wrap(err)
			}
		}
	}
	return nil
}

// times multiplies; what does not fit becomes the largest number, which is more
// than any limit or buffer.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return ^uint64(0)
	}
	return lo
}

// plus adds the same way.
func plus(a, b uint64) uint64 {
	if s := a + b; s >= a {
		return s
	}
	return ^uint64(0)
}

// bitBytes is how many bytes hold n values of some bits each.
func bitBytes(n, width uint64) uint64 {
	hi, lo := bits.Mul64(n, width)
	if hi >= 8 {
		return ^uint64(0)
	}
	b := hi<<61 | lo>>3
	if lo&7 != 0 {
		b++
	}
	return b
}
