package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"
)

// adminDetectionTimeout is admin's own limit where a request names none.
const adminDetectionTimeout = 45 * time.Second

// errAllFailed heads the reasons of a detection in which no table could be
// looked at.
var errAllFailed = errors.New("no Lance table could be read")

func (h *handler) detect(ctx context.Context, start time.Time, request *plugin_pb.RunDetectionRequest, sender pluginworker.DetectionSender) error {
	l, release, err := h.lakes.open(ctx, request.GetClusterContext())
	if err != nil {
		return err
	}
	defer release()
	tables, err := l.tables(ctx)
	if err != nil {
		return fmt.Errorf("listing the Lance tables: %w", err)
	}
	report, reported := h.reporter(sender)
	r, err := h.sweep(ctx, tables, sweepOrder{
		task:   h.job.configure(request.GetWorkerConfigValues()),
		max:    int(request.GetMaxResults()),
		until:  start.Add(detectionBudget(request)),
		report: report,
	})
	reported()
	if err != nil {
		return err
	}
	h.log.Debug("Lance detection", "job_type", h.jobType, "result", r.String())
	h.tell(r, sender)
	if r.allFailed() {
		return fmt.Errorf("%w: %s", errAllFailed, strings.Join(sayings(r.failed, maxNamed), "; "))
	}

	if err := sender.SendProposals(&plugin_pb.DetectionProposals{
		RequestId: request.GetRequestId(),
		JobType:   h.jobType,
		Proposals: r.proposals,
		HasMore:   r.more,
	}); err != nil {
		return fmt.Errorf("sending the proposals: %w", err)
	}
	h.metrics.proposals.WithLabelValues(h.jobType).Add(float64(len(r.proposals)))
	if err := sender.SendComplete(&plugin_pb.DetectionComplete{
		RequestId:      request.GetRequestId(),
		JobType:        h.jobType,
		Success:        true,
		TotalProposals: int32(len(r.proposals)),
	}); err != nil {
		return fmt.Errorf("sending the completion: %w", err)
	}
	return nil
}

// detectionBudget is how long a sweep goes on: a detection that admin has
// given up is worth nothing, one that ends before and proposes a part is.
func detectionBudget(request *plugin_pb.RunDetectionRequest) time.Duration {
	timeout := time.Duration(request.GetAdminRuntime().GetDetectionTimeoutSeconds()) * time.Second
	if timeout <= 0 {
		timeout = adminDetectionTimeout
	}
	return timeout * 4 / 5
}

// proposal asks for a job on one table.
func (h *handler) proposal(e entry, f finding) *plugin_pb.JobProposal {
	name := encodeID(e.id)
	key := h.jobType + ":" + name
	return &plugin_pb.JobProposal{
		ProposalId: key,
		DedupeKey:  key,
		JobType:    h.jobType,
		Summary:    fmt.Sprintf("%s %s (%s)", h.verb, name, f.size),
		Detail:     f.reason,
		Parameters: map[string]*plugin_pb.ConfigValue{
			paramTable:   stringList(e.id),
			paramRuntime: int64Value(int64(f.runtime / time.Second)),
		},
	}
}

const (
	// maxNamed bounds how many tables one message names.
	maxNamed = 20
	// maxListed bounds the lists in the details of an activity.
	maxListed = 50
)

// tell sends what a sweep found as activities: one that sums it up, with the
// reason for every table that is not proposed, and one for each table that
// something is wrong with. They inform; a sender that can't take them says so
// again at the proposals.
func (h *handler) tell(r sweepResult, sender pluginworker.DetectionSender) {
	_ = sender.SendActivity(pluginworker.BuildDetectorActivity("sweep", r.String(), map[string]*plugin_pb.ConfigValue{
		"tables":        int64Value(int64(r.tables)),
		"read":          int64Value(int64(r.read)),
		"proposed":      int64Value(int64(len(r.proposals))),
		"unwritten":     int64Value(int64(r.unwritten)),
		"skipped":       int64Value(int64(len(r.failed) + len(r.held))),
		"left_as_it_is": stringList(sayings(r.left, maxListed)),
	}))
	troubles := r.troubles()
	for i, n := range troubles {
		if i == maxNamed {
			_ = sender.SendActivity(pluginworker.BuildDetectorActivity("skipped", fmt.Sprintf("and %d more", len(troubles)-i), nil))
			return
		}
		_ = sender.SendActivity(pluginworker.BuildDetectorActivity("skipped", n.String(), map[string]*plugin_pb.ConfigValue{
			paramTable: {Kind: &plugin_pb.ConfigValue_StringValue{StringValue: n.table}},
			"reason":   {Kind: &plugin_pb.ConfigValue_StringValue{StringValue: string(n.class)}},
		}))
	}
}
