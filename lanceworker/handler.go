package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"
)

// handler is one job type as weed's plugin worker drives it.
type handler struct {
	description
	job      job
	lakes    *lakes
	tables   onlooker
	jobs     *Jobs
	metrics  *metrics
	identity *identity
	observer *observer
	log      *slog.Logger
	now      func() time.Time
	// maxExecute is what the capability says.
	maxExecute int

	backoff backoff
	// notices and runNotices keep the log quiet: what has been said of tables
	// that can't be read, and of jobs that failed.
	notices, runNotices notices
	cursor              cursor
}

var _ pluginworker.JobHandler = (*handler)(nil)

// onlooker is what a handler needs of the tables that all of them share.
type onlooker interface {
	look(ctx context.Context, e entry) (sighting, error)
	still(ctx context.Context, s sighting) error
	changed(ctx context.Context, e entry)
	keep(exists func(table string) bool)
}

var (
	errNoRequest = errors.New("the request is empty")
	errNoSender  = errors.New("no sender to answer to")
	errNoJob     = errors.New("the request holds no job")
)

// Capability implements pluginworker.JobHandler.
func (h *handler) Capability() *plugin_pb.JobTypeCapability { return h.capability(h.maxExecute) }

// Descriptor implements pluginworker.JobHandler.
func (h *handler) Descriptor() *plugin_pb.JobTypeDescriptor { return h.descriptor() }

// Detect implements pluginworker.JobHandler: it sends activities, then the
// proposals, even if there are none, then the completion. An error stands for
// a completion without success.
func (h *handler) Detect(ctx context.Context, request *plugin_pb.RunDetectionRequest, sender pluginworker.DetectionSender) (err error) {
	if request == nil {
		return errNoRequest
	}
	if sender == nil {
		return errNoSender
	}
	if err := h.checkType(request.GetJobType()); err != nil {
		return err
	}
	h.identity.announce(true)
	start := h.now()
	defer func() { h.metrics.detected(h.jobType, err, h.now().Sub(start)) }()
	return h.detect(ctx, start, request, sender)
}

// Execute implements pluginworker.JobHandler: it sends progress and the
// completion, also that of a job that failed. An error stands for a completion
// without success where none was sent.
func (h *handler) Execute(ctx context.Context, request *plugin_pb.ExecuteJobRequest, sender pluginworker.ExecutionSender) error {
	if request == nil {
		return errNoRequest
	}
	if request.Job == nil {
		return errNoJob
	}
	if sender == nil {
		return errNoSender
	}
	if err := h.checkType(request.GetJob().GetJobType()); err != nil {
		return err
	}
	h.identity.announce(true)
	start := h.now()
	ok, err := h.execute(ctx, request, sender)
	h.metrics.executed(h.jobType, ok && err == nil, h.now().Sub(start))
	return err
}

func (h *handler) checkType(jobType string) error {
	// Weed's worker does not tell cases apart when it chooses the handler.
	if jobType != "" && !strings.EqualFold(jobType, h.jobType) {
		return fmt.Errorf("job type %q sent to the handler of %s", jobType, h.jobType)
	}
	return nil
}

func (h *handler) guard(f func() error) error { return guard(h.log, h.jobType, f) }

// guard turns a panic into an error, so that one table never ends the worker of
// all the others.
func guard(log *slog.Logger, what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("bug: a Lance job panicked", "job_type", what, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("bug: panic: %v", p)
		}
	}()
	return f()
}
