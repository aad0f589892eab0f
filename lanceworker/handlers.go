package lanceworker

import (
	"context"
	"hash/maphash"
	"time"

	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/companion"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/pins"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// Handlers returns a handler for each job type of this package: the same that
// weed gets from its registry, for a worker of one's own.
func Handlers(o Options) ([]pluginworker.JobHandler, error) {
	w, err := newWorkshop(o)
	if err != nil {
		return nil, err
	}
	return []pluginworker.JobHandler{w.compaction(), w.cleanup()}, nil
}

// workshop is what the handlers of one worker share.
type workshop struct {
	Options
	lakes    *lakes
	metrics  *metrics
	identity *identity
	observer *observer
	tables   *tables
	compact  compactEngine
	clean    cleanupEngine
}

const (
	// indexBytes and metadataBytes bound what a worker's own session keeps. Sweeps need next to
	// nothing of it, since they remember what they found; jobs and previews use a table once.
	indexBytes    = 32 << 20
	metadataBytes = 64 << 20
)

func newWorkshop(o Options) (*workshop, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	w := &workshop{
		Options:  o,
		lakes:    &lakes{connect: clusterConnector(o)},
		metrics:  m,
		identity: &identity{workerID: o.WorkerID, workingDir: o.WorkingDir, metrics: m},
	}
	if w.tables, err = w.newTables(); err != nil {
		return nil, err
	}
	m.caches.add(w.tables.Session.Stats, w.tables.Leases.Stats)
	w.compact = compactEngine{judge: w.tables.judge, run: w.tables.compact}
	w.clean = cleanupEngine{detect: w.tables.detect, run: w.tables.clean}
	w.observer = &observer{link: w.companion(), now: o.Now, look: w.tables.facts, count: w.tables.versions}
	w.identity.announce(false)
	return w, nil
}

// newTables makes what the job types share about tables, with a session and leases of its own where the
// options have none.
func (w *workshop) newTables() (*tables, error) {
	s, l := w.Session, w.Leases
	if s == nil {
		var err error
		if s, err = session.New(session.Options{IndexBytes: indexBytes, MetadataBytes: metadataBytes, Now: w.Now}); err != nil {
			return nil, err
		}
	}
	if l == nil {
		l = lease.New(lease.Options{Holder: w.WorkerID, Log: w.Logger, Now: w.Now})
		w.Jobs.atStop(l.Close)
	}
	t := &tables{Pins: pins.Pins{Session: s, Leases: l}, now: w.Now, seed: maphash.MakeSeed(), again: allowance{now: w.Now}}
	t.mu.policy = cleanup.Policy{Retain: time.Duration(retainHours.def) * time.Hour, MinVersions: int(minVersions.def)}
	return t, nil
}

// companion is the stream for what weed's own does not carry.
func (w *workshop) companion() *companion.Companion {
	p := &previewer{
		lakes:   w.lakes,
		metrics: w.metrics,
		guard:   func(what string, f func() error) error { return guard(w.Logger, what, f) },
		read: func(ctx context.Context, e entry, rows int) (sample, error) {
			return sampler{columns: previewColumns, bytes: previewBytes}.read(ctx, w.tables.Pins, e.place, rows)
		},
		seen: func(ctx context.Context, e entry) { w.observer.again(ctx, compactType, e) },
	}
	return companion.New(companion.Options{
		Admin:    w.adminAddress,
		WorkerID: func() string { return w.identity.companion() },
		Version:  version(),
		Dial:     w.GrpcDialOption,
		Begin:    w.Jobs.begin,
		Preview:  p.answer,
		Log:      w.Logger,
		Now:      w.Now,
		Event:    func(event string) { w.metrics.streams.WithLabelValues(event).Inc() },
	})
}

func (w *workshop) compaction() pluginworker.JobHandler {
	return w.handler(&compactJob{engine: w.compact, metrics: w.metrics, now: w.Now})
}

func (w *workshop) cleanup() pluginworker.JobHandler {
	return w.handler(&cleanupJob{engine: w.clean, metrics: w.metrics, now: w.Now})
}

func (w *workshop) handler(j job) *handler {
	h := &handler{
		description: j.describe(),
		job:         j,
		lakes:       w.lakes,
		tables:      w.tables,
		jobs:        w.Jobs,
		metrics:     w.metrics,
		identity:    w.identity,
		observer:    w.observer,
		log:         w.Logger,
		now:         w.Now,
		maxExecute:  w.MaxExecute,
	}
	w.metrics.prepare(h.jobType)
	return h
}
