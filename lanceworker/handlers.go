package lanceworker

import (
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/companion"
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
	compact  compactEngine
	clean    cleanupEngine
}

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
		compact:  compactEngine{open: openForCompaction, run: compact.Run},
		clean:    cleanupEngine{detect: cleanup.Detect, run: cleanup.Run},
	}
	w.observer = &observer{link: w.companion(), now: o.Now, look: look, count: countVersions}
	w.identity.announce(false)
	return w, nil
}

// companion is the stream for what weed's own does not carry.
func (w *workshop) companion() *companion.Companion {
	p := &previewer{
		lakes:   w.lakes,
		metrics: w.metrics,
		guard:   func(what string, f func() error) error { return guard(w.Logger, what, f) },
		read:    sampler{columns: previewColumns, bytes: previewBytes}.read,
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
