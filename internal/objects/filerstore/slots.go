package filerstore

import (
	"bytes"
	"context"
	"sync"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

// slot is the memory of one chunk under way.
type slot struct {
	data []byte
	body bytes.Buffer
	// reads are those that still fill parts of data.
	reads sync.WaitGroup
}

// extend returns n more bytes of the chunk, which has most at most.
func (s *slot) extend(n, most int) []byte {
	at := len(s.data)
	if at+n > cap(s.data) {
		// What is being read goes to where the bytes are now.
		s.reads.Wait()
		grown := make([]byte, at, max(at+n, min(2*cap(s.data), most)))
		copy(grown, s.data)
		s.data = grown
	}
	s.data = s.data[:at+n]
	return s.data[at:]
}

// room returns a part of the current chunk for up to n bytes that come next;
// filled has to follow.
func (w *writer) room(ctx context.Context, n int64) ([]byte, error) {
	if w.cur == nil {
		select {
		case w.cur = <-w.free:
		case <-w.ctx.Done():
			return nil, w.failure(w.ctx.Err())
		case <-ctx.Done():
			return nil, w.failure(ctx.Err())
		}
	}
	if err := w.failure(nil); err != nil {
		return nil, err
	}
	most := w.to.conf.chunk
	return w.cur.extend(int(min(n, int64(most-len(w.cur.data)))), most), nil
}

// filled counts n bytes that room gave out, and sends the chunk when it has all of its bytes.
func (w *writer) filled(n int) {
	w.size += int64(n)
	if len(w.cur.data) == w.to.conf.chunk {
		w.send()
	}
}

// send starts the upload of the current slot.
func (w *writer) send() {
	s, offset, before, summed := w.cur, w.size-int64(len(w.cur.data)), w.summed, make(chan struct{})
	w.cur, w.summed = nil, summed
	w.uploads.Go(func() {
		sum := w.add(s, before)
		close(summed)
		if chunk, err := w.store(s, offset, sum); err != nil {
			w.fail(err)
		} else {
			w.mu.Lock()
			w.mu.chunks = append(w.mu.chunks, chunk)
			w.mu.Unlock()
		}
		s.data = s.data[:0]
		w.free <- s
	})
}

// add adds a chunk to the sum of the object, behind those before it. It returns
// the chunk's own sum where that is the same, in the first.
func (w *writer) add(s *slot, before <-chan struct{}) []byte {
	s.reads.Wait()
	if before != nil {
		<-before
	}
	if w.failure(nil) != nil {
		return nil
	}
	w.sum.Write(s.data)
	if before != nil {
		return nil
	}
	return w.sum.Sum(nil)
}

// store uploads a chunk, unless a part of the object is missing already.
func (w *writer) store(s *slot, offset int64, sum []byte) (*filer_pb.FileChunk, error) {
	if err := w.failure(nil); err != nil {
		return nil, err
	}
	return w.to.store(w.ctx, s.data, offset, sum, &s.body, &w.used)
}
