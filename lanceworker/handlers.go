package lanceworker

import (
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
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
	w.identity.announce(false)
	return w, nil
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
		log:         w.Logger,
		now:         w.Now,
		maxExecute:  w.MaxExecute,
	}
	w.metrics.prepare(h.jobType)
	return h
}
