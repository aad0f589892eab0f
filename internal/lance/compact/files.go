package compact

import (
	"context"
	"fmt"
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// openFiles keeps the metadata of data files, which are opened up to three times: when they are looked at, when pages are copied,
// and for each group of columns that is decoded. Files never change.
type openFiles struct {
	mu   sync.Mutex
	kept map[string]keptFile
	room int64
}

type keptFile struct {
	file *datafile.File // without a reader
	size int64
}

// newOpenFiles keeps metadata of so many bytes at most.
func newOpenFiles(room int64) *openFiles {
	return &openFiles{kept: make(map[string]keptFile), room: room}
}

func fileKey(s objects.Store, name string) string { return fmt.Sprint(s) + "\x00" + name }

// open opens a file, as datafile.Open does.
func (c *openFiles) open(ctx context.Context, s objects.Store, name string) (*datafile.File, error) {
	key := fileKey(s, name)
	c.mu.Lock()
	kept := c.kept[key].file
	c.mu.Unlock()
	if kept != nil {
		r, err := s.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		return kept.With(r), nil
	}
	f, err := datafile.Open(ctx, s, name)
	if err != nil {
		return nil, err
	}
	size := f.MemorySize()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.kept[key]; !twice && c.room >= size {
		c.room -= size
		c.kept[key] = keptFile{f.With(nil), size}
	}
	return f, nil
}

// forget gives back the room of a file that is not opened again.
func (c *openFiles) forget(s objects.Store, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fileKey(s, name)
	c.room += c.kept[key].size
	delete(c.kept, key)
}
