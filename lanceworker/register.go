package lanceworker

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"
	"github.com/seaweedfs/seaweedfs/weed/util/grace"
	"google.golang.org/grpc"
)

// registered are the handlers that weed builds from its registry: the one thing
// that is global here, as the registry is.
var registered registration

func init() {
	pluginworker.RegisterHandler(pluginworker.HandlerFactory{
		JobType:  compactType,
		Category: pluginworker.CategoryHeavy,
		Aliases:  []string{"lance-compact", "lance.compact"},
		Build:    registered.builder((*workshop).compaction),
	})
	pluginworker.RegisterHandler(pluginworker.HandlerFactory{
		JobType:  cleanupType,
		Category: pluginworker.CategoryDefault,
		Aliases:  []string{"lance-cleanup-versions", "lance.cleanup_versions", "lance-cleanup"},
		Build:    registered.builder((*workshop).cleanup),
	})
}

// Configure sets what the registered handlers are built with. It is for whoever
// builds a weed, and is to be called before weed builds its handlers: from then
// on it changes nothing. GrpcDialOption, MaxExecute and WorkingDir come from
// weed and are ignored here.
func Configure(o Options) {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	o.admin = registered.mu.options.admin
	registered.mu.options = o
}

// NameWorker tells the registered handlers which worker they belong to, for
// build_info; a WorkerID that [Configure] was given stays. Weed does not tell a
// handler; the command that starts the worker knows. It is to be called before
// weed builds its handlers.
func NameWorker(id string) {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	if registered.mu.options.WorkerID == "" {
		registered.mu.options.WorkerID = id
	}
}

// ReachAdmin tells the registered handlers how to find out where admin listens,
// for observations and previews; an Admin that [Configure] was given stays. Weed does not
// tell a handler; the command that starts the worker knows. The function is called
// when a worker that was built afterwards has its first observation, and before each attempt
// to connect; "" means that it does not know.
func ReachAdmin(address func() string) {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	registered.mu.options.admin = address
}

// Shutdown cancels the running jobs of the registered handlers and waits until
// they have stopped and removed what they had written, or until ctx ends; see
// [StopGrace]. Jobs that arrive from now on are refused.
func Shutdown(ctx context.Context) error { return registered.account().Stop(ctx) }

// registration builds the handlers of a process.
type registration struct {
	jobs   Jobs
	onExit sync.Once
	mu     struct {
		sync.Mutex
		options Options
		// current is what the handlers share that were built for one worker.
		current *workshop
		dial    grpc.DialOption
	}
}

// account returns the account of the running jobs: that of the options where
// these have one.
func (r *registration) account() *Jobs {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.options.Jobs != nil {
		return r.mu.options.Jobs
	}
	return &r.jobs
}

func (r *registration) builder(handler func(*workshop) pluginworker.JobHandler) func(pluginworker.HandlerBuildOptions) (pluginworker.JobHandler, error) {
	return func(o pluginworker.HandlerBuildOptions) (pluginworker.JobHandler, error) {
		w, err := r.workshop(o)
		if err != nil {
			return nil, fmt.Errorf("building the Lance jobs: %w", err)
		}
		// Weed's hooks run when a signal has arrived, the latest first, and the
		// process ends after the last one: those of a filer or volume server in the
		// same process were there before, so that jobs can still reach them.
		r.onExit.Do(func() { grace.OnInterrupt(r.stop) })
		return handler(w), nil
	}
}

// workshop returns the one that was made for the same worker, or a new one.
func (r *registration) workshop(o pluginworker.HandlerBuildOptions) (*workshop, error) {
	jobs := r.account()
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.mu.current; w != nil && w.WorkingDir == o.WorkingDir && w.MaxExecute == max(o.MaxExecute, 1) && sameDial(r.mu.dial, o.GrpcDialOption) {
		return w, nil
	}
	options := r.mu.options
	options.GrpcDialOption = o.GrpcDialOption
	options.MaxExecute = max(o.MaxExecute, 0)
	options.WorkingDir = o.WorkingDir
	options.Jobs = jobs
	w, err := newWorkshop(options)
	if err != nil {
		return nil, err
	}
	r.mu.current, r.mu.dial = w, o.GrpcDialOption
	return w, nil
}

// sameDial tells whether two options are one; what can't be compared is not.
func sameDial(a, b grpc.DialOption) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

func (r *registration) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), StopGrace)
	defer cancel()
	// The process ends either way.
	_ = r.account().Stop(ctx)
}
