package array

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// maxPageRows ends a page whose values take next to nothing.
const maxPageRows = 1 << 26

// leafWriter collects the values of a column until there are enough for a page.
type leafWriter struct {
	of    *writer
	field column.Field
	path  string
	wish  compression
	// in is held, rows and bits are its size. Once there is a fold, the rows are in it.
	in   []piece
	rows int
	bits int64
	fold fold
	// seen counts the items of dictionaries.
	seen distinct
}

// pageWriters are shared by all columns: only one of them is at work at a time, with each goroutine that writes.
var pageWriters = sync.Pool{New: func() any { return new(pageWriter) }}

func (l *leafWriter) write(p piece) error {
	if l.field.Blob {
		var err error
		if p, err = l.descriptors(p); err != nil {
			return fmt.Errorf("%s: column %d: %w", l.path, l.field.Column, err)
		}
	}
	for p.n > 0 {
		if l.fold == nil && column.Storage(l.field.Type).ID() == arrow.NULL {
			l.fold = new(nullFold)
		}
		if l.fold != nil {
			n := l.fold.take(p.head(min(p.n, l.fold.room())))
			l.rows += n
			if p = p.tail(n); p.n > 0 {
				if err := l.flush(); err != nil {
					return err
				}
			}
			continue
		}
		n := min(max(p.reach(l.of.full-l.bits), 1), maxPageRows-l.rows)
		part := p.head(n)
		part.data.Retain()
		l.in = append(l.in, part)
		l.rows += n
		l.bits += part.bits()
		p = p.tail(n)
		if l.bits < l.of.full && l.rows < maxPageRows {
			continue
		}
		if l.fold = folded(l.field.Type, l.in, l.of.full/8); l.fold != nil {
			l.release()
		} else if err := l.flush(); err != nil {
			return err
		}
	}
	return nil
}

// release lets go of the pieces.
func (l *leafWriter) release() {
	for _, p := range l.in {
		p.data.Release()
	}
	clear(l.in)
	l.in, l.bits = l.in[:0], 0
}

// flush writes what is held as a page.
func (l *leafWriter) flush() error {
	if l.rows == 0 {
		return nil
	}
	w := pageWriters.Get().(*pageWriter)
	defer func() {
		w.reset(compression{})
		pageWriters.Put(w)
		l.release()
		l.rows, l.fold = 0, nil
	}()
	w.reset(l.wish)
	enc, err := l.encode(w)
	if err != nil {
		return fmt.Errorf("%s: column %d: %w", l.path, l.field.Column, err)
	}
	return l.of.page(l.field.Column, l.rows, enc, w.buffers)
}

func (l *leafWriter) encode(w *pageWriter) (*pb.ArrayEncoding, error) {
	if l.fold != nil {
		return l.fold.encode(w), nil
	}
	return w.encode(l.field.Type, l.in, &l.seen)
}

func (l *leafWriter) held() int64 {
	n := (l.bits + 7) / 8
	if l.fold != nil {
		n = int64(l.fold.held())
	}
	return max(n, int64(min(l.rows, 1))) // no rows, no bytes; rows, some bytes
}
