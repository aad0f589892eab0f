package session

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// fileMetadata is a data file without a reader.
type fileMetadata = *datafile.File

// openFile opens a data file for a scan, whose metadata may be kept. The store is asked for
// the object in any case, since that is how its bytes are found.
func (t *Table) openFile(ctx context.Context, s objects.Store, name string) (*datafile.File, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	k := cacheKey{t.key, name, r.Entry().Token}
	if s != t.t.Store() { // a base
		k.name = s.String() + "\x00" + name
	}
	if f, _ := t.s.metadata.get(k).(fileMetadata); f != nil {
		return f.With(r), nil
	}
	if k.token == "" {
		f, err := datafile.Read(ctx, r)
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return f, nil
	}
	// Whoever reads the metadata may outlast the one who opened the reader.
	l := &lent{Reader: r}
	l.users.Store(2)
	f, shared, err := t.s.files.do(ctx, k, func(ctx context.Context) (fileMetadata, error) {
		defer l.Close()
		if f, _ := t.s.metadata.peek(k).(fileMetadata); f != nil {
			return f, nil // read since
		}
		f, err := datafile.Read(ctx, l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f = f.With(nil)
		t.s.metadata.put(k, f, f.MemorySize(), t.s.current(t.key, t.generation))
		return f, nil
	})
	if shared {
		l.Close()
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return f.With(l), nil
}

// lent is a reader with several users; the last one closes it.
type lent struct {
	objects.Reader
	users atomic.Int32
}

func (l *lent) Close() error {
	if l.users.Add(-1) > 0 {
		return nil
	}
	return l.Reader.Close()
}
