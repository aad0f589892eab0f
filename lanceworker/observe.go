package lanceworker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	// lanceFormat is what admin calls the format of these tables.
	lanceFormat = "LANCE"
	// lookLimit bounds what is read of a table for an observation alone.
	lookLimit = 30 * time.Second
	// lookAgain is how long an observation of an unchanged table is taken to be
	// fresh, and countAgain the number of its versions, which a cleanup by another worker lowers.
	lookAgain  = 15 * time.Minute
	countAgain = time.Hour
	// maxReport is how many observations one message of a detection has.
	maxReport = 500
)

// facts are what admin's pages show of a table.
type facts struct {
	version   uint64
	made      time.Time
	rows      uint64
	fragments int
	// versions is 0 where they were not counted.
	versions int
	schema   string
}

// observationSender is what a detection's sender offers where weed's worker
// carries observations itself.
type observationSender interface {
	SendObservations(*plugin_pb.WorkerObservations) error
}

// announcer takes observations to admin.
type announcer interface {
	// Wanted tells whether observations would reach anybody.
	Wanted() bool
	Observe(jobType string, o *plugin_pb.ObjectObservation)
	Keep(exists func(id []string) bool)
}

// observer makes observations of what the jobs see, and looks closer where that
// is not enough. It belongs to all job types of a worker.
type observer struct {
	link announcer
	now  func() time.Time
	// look reads the newest version, count the number of versions.
	look  func(ctx context.Context, e entry) (facts, error)
	count func(ctx context.Context, e entry) (int, error)
	mu    struct {
		sync.Mutex
		known map[string]glimpse
	}
}

// glimpse is what is remembered of an observation, to spare the next one.
type glimpse struct {
	version       uint64
	made          time.Time
	versions      int
	looked, count time.Time
}

// observe returns an observation of a table that a job has just inspected, or
// nil when there is nothing new to say.
func (o *observer) observe(ctx context.Context, e entry, f finding) *plugin_pb.ObjectObservation {
	if e.err != nil || f.facts == nil && f.newest == 0 {
		return nil
	}
	name, now := encodeID(e.id), o.now()
	o.mu.Lock()
	known := o.mu.known[name]
	o.mu.Unlock()
	if f.facts == nil && known.version == f.newest && (f.versions == 0 || known.versions == f.versions) && now.Sub(known.looked) < lookAgain {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	seen, err := facts{}, error(nil)
	if f.facts != nil {
		seen = *f.facts
	} else if seen, err = o.look(ctx, e); err != nil {
		// The job says what is wrong with the table, if it matters.
		return nil
	}
	counted := known.count
	switch {
	case seen.versions > 0:
		counted = now
	case f.versions > 0 && f.newest == seen.version:
		seen.versions, counted = f.versions, now
	case known.versions > 0 && known.version == seen.version && known.made.Equal(seen.made) && now.Sub(known.count) < countAgain:
		seen.versions = known.versions
	default:
		// Without the number the rest is still worth showing.
		if seen.versions, err = o.count(ctx, e); err != nil {
			seen.versions = 0
		}
		counted = now
	}
	o.remember(name, glimpse{version: seen.version, made: seen.made, versions: seen.versions, looked: now, count: counted})
	return seen.observation(e.id, now)
}

// again observes a table that a job has changed.
func (o *observer) again(ctx context.Context, jobType string, e entry) {
	if e.err != nil || !o.link.Wanted() {
		return
	}
	looking, cancel := context.WithTimeout(ctx, lookLimit)
	seen, err := o.look(looking, e)
	cancel()
	if err != nil {
		return
	}
	o.mu.Lock()
	delete(o.mu.known, encodeID(e.id))
	o.mu.Unlock()
	if seen := o.observe(ctx, e, finding{facts: &seen}); seen != nil {
		o.link.Observe(jobType, seen)
	}
}

func (o *observer) remember(name string, g glimpse) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.known == nil {
		o.mu.known = make(map[string]glimpse)
	}
	o.mu.known[name] = g
}

// keep forgets the tables that are no more.
func (o *observer) keep(exists func(table string) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name := range o.mu.known {
		if !exists(name) {
			delete(o.mu.known, name)
		}
	}
	o.link.Keep(func(id []string) bool { return exists(encodeID(id)) })
}

// observation says the facts in admin's words.
func (f facts) observation(id []string, at time.Time) *plugin_pb.ObjectObservation {
	attributes := map[string]*plugin_pb.ConfigValue{
		"version":   int64Value(int64(f.version)),
		"rows":      int64Value(int64(f.rows)),
		"fragments": int64Value(int64(f.fragments)),
		"schema":    {Kind: &plugin_pb.ConfigValue_StringValue{StringValue: f.schema}},
	}
	if f.versions > 0 {
		attributes["versions"] = int64Value(int64(f.versions))
	}
	o := &plugin_pb.ObjectObservation{
		ObjectId:   slices.Clone(id),
		ObjectKind: "table",
		Format:     lanceFormat,
		Attributes: attributes,
		ObservedAt: timestamppb.New(at),
	}
	for i, part := range o.ObjectId {
		o.ObjectId[i] = strings.ToValidUTF8(part, "\ufffd")
	}
	return o
}

// reporter takes the observations of one detection where they belong: to its
// sender if that has them, else to the companion stream. done hands over the rest.
func (h *handler) reporter(sender pluginworker.DetectionSender) (report func(*plugin_pb.ObjectObservation), done func()) {
	direct, ok := sender.(observationSender)
	if !ok {
		if !h.observer.link.Wanted() {
			return nil, func() {}
		}
		return func(o *plugin_pb.ObjectObservation) { h.observer.link.Observe(h.jobType, o) }, func() {}
	}
	var waiting []*plugin_pb.ObjectObservation
	done = func() {
		if len(waiting) > 0 {
			// A stream that is gone says so again at the proposals.
			_ = direct.SendObservations(&plugin_pb.WorkerObservations{JobType: h.jobType, Observations: waiting})
			waiting = nil
		}
	}
	return func(o *plugin_pb.ObjectObservation) {
		if waiting = append(waiting, o); len(waiting) == maxReport {
			done()
		}
	}, done
}
