package lanceworker

import (
	"context"
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// execute runs the job of a request. ok tells whether it succeeded; an error
// that it could not be reported, or that there was nothing to run.
func (h *handler) execute(ctx context.Context, request *plugin_pb.ExecuteJobRequest, sender pluginworker.ExecutionSender) (ok bool, _ error) {
	spec := request.GetJob()
	id, found := tableID(spec.GetParameters())
	if !found {
		return false, fmt.Errorf("job %s names no table: its parameter %s is missing or empty", spec.GetJobId(), paramTable)
	}
	name := encodeID(id)
	ctx, end, err := h.jobs.begin(ctx)
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", h.doing, name, err)
	}
	defer end()

	p := &progress{sender: sender, now: h.now, requestID: request.GetRequestId(), jobID: spec.GetJobId(), jobType: h.jobType}
	task := h.job.configure(request.GetWorkerConfigValues())
	o, err := h.runOn(ctx, request.GetClusterContext(), id, task, p)
	if stopped := context.Cause(ctx); err != nil && errors.Is(stopped, errStopping) {
		err = fmt.Errorf("%w: %w", stopped, err)
	}
	// Another commit made the plan of this run pointless, or the table was dropped: that is
	// the other one's success, and nobody's failure.
	if errors.Is(err, table.ErrConflict) || errors.Is(err, catalog.ErrNotFound) {
		o.preempted, err = err.Error(), nil
	}
	if o.preempted != "" {
		o.summary += "; pre-empted: " + o.preempted
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", h.doing, name, err)
	}
	h.remember(ctx, name, o, err)

	completed := &plugin_pb.JobCompleted{
		RequestId: request.GetRequestId(),
		JobId:     spec.GetJobId(),
		JobType:   h.jobType,
		Success:   err == nil,
		Result:    &plugin_pb.JobResult{Summary: o.summary, OutputValues: outputs(o.values)},
	}
	if err != nil {
		completed.ErrorMessage = err.Error()
	}
	if sendErr := sender.SendCompleted(completed); sendErr != nil {
		return err == nil, errors.Join(err, fmt.Errorf("reporting the end of job %s on %s: %w", spec.GetJobId(), name, sendErr))
	}
	return err == nil, nil
}

// runOn finds the table as it is now and runs the task on it.
func (h *handler) runOn(ctx context.Context, cluster *plugin_pb.ClusterContext, id []string, t task, p *progress) (o outcome, err error) {
	l, release, err := h.lakes.open(ctx, cluster)
	if err != nil {
		return outcome{}, err
	}
	defer release()
	e, err := l.find(ctx, id)
	if err != nil {
		return outcome{}, err
	}
	if e.err != nil {
		return outcome{}, e.err
	}
	err = h.guard(func() (err error) {
		o, err = t.run(ctx, e, p.report)
		return err
	})
	h.tables.changed(ctx, e)
	if o.changed {
		h.observer.again(ctx, h.jobType, e)
	}
	return o, err
}

// remember keeps account of how a job on a table ended. One that was cancelled
// says nothing of the table.
func (h *handler) remember(ctx context.Context, name string, o outcome, err error) {
	switch {
	case err == nil:
		h.backoff.succeed(name, running)
		h.runNotices.clear(name)
		h.log.Info("Lance job done", "job_type", h.jobType, "table", name, "summary", o.summary)
	case ctx.Err() != nil:
		h.log.Info("Lance job cancelled", "job_type", h.jobType, "table", name, "reason", err.Error())
	default:
		h.backoff.fail(name, h.now(), running, err.Error(), o.changed)
		if h.runNotices.set(name, err.Error()) {
			h.log.Warn("Lance job failed", "job_type", h.jobType, "table", name, "reason", err.Error())
		}
	}
}

func outputs(values map[string]int64) map[string]*plugin_pb.ConfigValue {
	out := make(map[string]*plugin_pb.ConfigValue, len(values))
	for name, v := range values {
		out[name] = int64Value(v)
	}
	return out
}
