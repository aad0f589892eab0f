package filerstore

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// arrivalGrace is ample for a request that a healthy volume server has, and
// well within the ten seconds that a job has to stop.
const arrivalGrace = 4 * time.Second

// errEnded is returned for what is written after Finish or Abort.
var errEnded = errors.New("the object has ended")

// Create implements objects.Store. Chunks are uploaded while the object is
// being written, under ctx, which has to last until Finish returns.
func (s *store) Create(ctx context.Context, name string) (objects.Writer, error) {
	w, err := s.newWriter(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", name, err)
	}
	return w, nil
}

func (s *store) newWriter(ctx context.Context, name string) (*writer, error) {
	dir, base, err := s.place(name)
	if err != nil {
		return nil, err
	}
	sealed, err := s.seal(ctx)
	if err != nil {
		return nil, err
	}
	to, err := s.target(ctx, dir+"/"+base)
	if err != nil {
		return nil, err
	}
	to.sealed = sealed
	w := &writer{s: s, name: name, dir: dir, base: base, to: to, sum: md5.New(), free: make(chan *slot, s.c.cfg.InFlight), reading: make(chan struct{}, readsAtOnce)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	to.sending, w.cut = context.WithCancel(context.WithoutCancel(ctx))
	for range cap(w.free) {
		w.free <- &slot{}
	}
	return w, nil
}

var _ objects.Writer = (*writer)(nil)

// writer makes one object of chunks that are uploaded side by side.
type writer struct {
	s               *store
	name, dir, base string
	to              *target
	// ctx is the one given to Create; io.Writer leaves no other way for it.
	ctx    context.Context
	cancel context.CancelFunc
	// cut ends the requests under way, which do not end with ctx.
	cut   context.CancelFunc
	ended bool

	size int64
	// free holds the slots that no upload is using; cur is being filled.
	free chan *slot
	cur  *slot
	// sum is of the whole object; each chunk adds its bytes when it is its turn.
	sum hash.Hash
	// summed is closed when all chunks that were sent have had it; nil before the first.
	summed chan struct{}
	// reading has room for those who read into slots.
	reading chan struct{}

	// uploads are those under way, and what is read for them.
	uploads sync.WaitGroup
	used    ledger
	mu      struct {
		sync.Mutex
		chunks []*filer_pb.FileChunk
		err    error
	}
}

// Write implements io.Writer. It waits while as many chunks as the cluster's
// configuration allows are on their way.
func (w *writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, fmt.Errorf("writing %s: %w", w.name, errEnded)
	}
	n := 0
	for len(p) > 0 {
		room, err := w.room(w.ctx, int64(len(p)))
		if err != nil {
			return n, fmt.Errorf("writing %s: %w", w.name, err)
		}
		k := copy(room, p)
		w.filled(k)
		n, p = n+k, p[k:]
	}
	return n, nil
}

// failure is the first error of an upload, or else the one given.
func (w *writer) failure(otherwise error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.err != nil {
		return w.mu.err
	}
	return otherwise
}

// fail keeps the first error: with a part missing there is nothing to finish.
func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.err == nil {
		w.mu.err = err
		// The other chunks would only have to be removed again.
		w.cancel()
	}
}

// Finish implements objects.Writer.
func (w *writer) Finish(ctx context.Context) (objects.Entry, error) {
	if w.ended {
		return objects.Entry{}, fmt.Errorf("finishing %s: %w", w.name, errEnded)
	}
	w.ended = true
	stop := context.AfterFunc(ctx, w.cancel)
	defer stop()
	defer w.release()
	u, err := w.flush()
	if err != nil {
		w.s.c.giveBack(ctx, w.to.path, w.used.all())
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return objects.Entry{}, fmt.Errorf("finishing %s: %w", w.name, err)
	}
	e, err := w.s.put(ctx, put{name: w.name, dir: w.dir, base: w.base, exclusive: true, made: u})
	if err != nil {
		return objects.Entry{}, fmt.Errorf("finishing %s: %w", w.name, err)
	}
	return e, nil
}

// release ends what the writer's contexts hold on to.
func (w *writer) release() {
	w.cancel()
	w.cut()
}

// settle waits for the uploads. Once the writer has been given up, what is on
// its way has a little time to arrive: a chunk that did so after it was removed
// would stay.
func (w *writer) settle() {
	done := make(chan struct{})
	go func() {
		w.uploads.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-w.ctx.Done():
	}
	timer := time.AfterFunc(arrivalGrace, w.cut)
	defer timer.Stop()
	<-done
}

// flush waits for the last chunk and folds a long list of them.
func (w *writer) flush() (*upload, error) {
	if w.cur != nil && len(w.cur.data) > 0 {
		w.send()
	}
	w.settle()
	if err := w.failure(w.ctx.Err()); err != nil {
		return nil, err
	}
	chunks := w.mu.chunks
	slices.SortFunc(chunks, func(a, b *filer_pb.FileChunk) int { return int(a.GetOffset() - b.GetOffset()) })
	var body bytes.Buffer
	folded, err := filer.MaybeManifestize(w.to.saveManifest(w.ctx, &body, &w.used), func([]*filer_pb.FileChunk) {}, chunks)
	if err != nil {
		return nil, fmt.Errorf("folding %d chunks: %w", len(chunks), err)
	}
	u := &upload{chunks: folded, size: w.size, sum: w.sum.Sum(nil), used: &w.used}
	if w.to.sealed != nil {
		u.extended = w.to.sealed.Extended()
	}
	return u, nil
}

// Abort implements objects.Writer.
func (w *writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	w.cancel()
	w.settle()
	w.cut()
	w.s.c.giveBack(w.ctx, w.to.path, w.used.all())
}
