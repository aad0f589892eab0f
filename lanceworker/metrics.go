package lanceworker

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/seaweedfs/seaweedfs/weed/stats"
)

// The names are an interface: SeaweedFS's dashboard and the worker in Rust use
// the same ones.
const metricsSubsystem = "worker"

const (
	resultOK     = "ok"
	resultFailed = "failed"
)

// metrics are what the jobs of one registry count.
type metrics struct {
	build      *prometheus.GaugeVec
	detections *prometheus.CounterVec
	detecting  *prometheus.HistogramVec
	proposals  *prometheus.CounterVec
	seen       *prometheus.CounterVec
	skipped    *prometheus.CounterVec
	jobs       *prometheus.CounterVec
	executing  *prometheus.HistogramVec
	previews   *prometheus.CounterVec
	streams    *prometheus.CounterVec
	caches     *cacheMetrics

	fragmentsRemoved prometheus.Counter
	versionsRemoved  prometheus.Counter
	bytesReclaimed   prometheus.Counter
}

// newMetrics registers the metrics, or joins those that are registered already.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	b := metricsBuilder{registerer: r}
	m := &metrics{
		build:      b.gauge("build_info", "Always 1; its labels tell which worker this is, and which build of the Lance jobs.", "worker_id", "version"),
		detections: b.counter("detections_total", "Detections that ended, by outcome.", "job_type", "result"),
		detecting:  b.histogram("detection_seconds", "Duration of a detection.", prometheus.ExponentialBuckets(0.01, 2, 14), "job_type"),
		proposals:  b.counter("proposals_total", "Jobs proposed to admin.", "job_type"),
		seen:       b.counter("objects_seen_total", "Objects that detections read.", "job_type"),
		skipped:    b.counter("objects_skipped_total", "Objects that detections left out because something was wrong with them, by the class of the reason.", "job_type", "reason"),
		jobs:       b.counter("jobs_total", "Jobs that ended, by outcome.", "job_type", "result"),
		executing:  b.histogram("job_seconds", "Duration of a job.", prometheus.ExponentialBuckets(0.05, 2, 16), "job_type"),
		previews:   b.counter("previews_total", "Previews of rows that admin asked for, by outcome.", "result"),
		streams:    b.counter("stream_events_total", "What became of streams to admin for observations and previews.", "event"),

		fragmentsRemoved: b.plainCounter("lance_fragments_removed_total", "Fragments that compaction replaced by others."),
		versionsRemoved:  b.plainCounter("lance_versions_removed_total", "Versions that cleanup removed."),
		bytesReclaimed:   b.plainCounter("lance_bytes_reclaimed_total", "Bytes of the files that cleanup removed."),
	}
	m.caches = register(&b, newCacheMetrics())
	if b.err != nil {
		return nil, fmt.Errorf("registering the metrics of the Lance jobs: %w", b.err)
	}
	for _, r := range []string{resultOK, resultFailed} {
		m.previews.WithLabelValues(r)
	}
	return m, nil
}

// prepare makes the series of a job type appear with zeros, so that their first
// increase is one.
func (m *metrics) prepare(jobType string) {
	for _, result := range []string{resultOK, resultFailed} {
		m.detections.WithLabelValues(jobType, result)
		m.jobs.WithLabelValues(jobType, result)
	}
	m.proposals.WithLabelValues(jobType)
	m.seen.WithLabelValues(jobType)
}

func (m *metrics) detected(jobType string, err error, took time.Duration) {
	m.detections.WithLabelValues(jobType, result(err == nil)).Inc()
	m.detecting.WithLabelValues(jobType).Observe(took.Seconds())
}

func (m *metrics) executed(jobType string, ok bool, took time.Duration) {
	m.jobs.WithLabelValues(jobType, result(ok)).Inc()
	m.executing.WithLabelValues(jobType).Observe(took.Seconds())
}

func (m *metrics) skip(jobType string, why reason) {
	m.skipped.WithLabelValues(jobType, string(why)).Inc()
}

func result(ok bool) string {
	if ok {
		return resultOK
	}
	return resultFailed
}

// metricsBuilder registers collectors and keeps the first error.
type metricsBuilder struct {
	registerer prometheus.Registerer
	err        error
}

func (b *metricsBuilder) opts(name, help string) prometheus.Opts {
	return prometheus.Opts{Namespace: stats.Namespace, Subsystem: metricsSubsystem, Name: name, Help: help}
}

func (b *metricsBuilder) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return register(b, prometheus.NewGaugeVec(prometheus.GaugeOpts(b.opts(name, help)), labels))
}

func (b *metricsBuilder) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return register(b, prometheus.NewCounterVec(prometheus.CounterOpts(b.opts(name, help)), labels))
}

func (b *metricsBuilder) plainCounter(name, help string) prometheus.Counter {
	return register(b, prometheus.NewCounter(prometheus.CounterOpts(b.opts(name, help))))
}

func (b *metricsBuilder) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return register(b, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: stats.Namespace, Subsystem: metricsSubsystem, Name: name, Help: help, Buckets: buckets,
	}, labels))
}

// register returns c, or the collector that has its place already: several
// handlers in one process count together.
func register[C prometheus.Collector](b *metricsBuilder, c C) C {
	err := b.registerer.Register(c)
	var there prometheus.AlreadyRegisteredError
	if errors.As(err, &there) {
		if existing, ok := there.ExistingCollector.(C); ok {
			return existing
		}
	}
	if err != nil && b.err == nil {
		b.err = err
	}
	return c
}
