package lanceworker

import (
	"sync"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	pluginworker "github.com/seaweedfs/seaweedfs/weed/plugin/worker"
)

const (
	// progressPause is the least time between two progress messages: an engine
	// reports each buffer, a person looks once a second.
	progressPause = time.Second
	// firstPercent and lastPercent are what a job shows when it has begun and as
	// long as it has not ended.
	firstPercent = 10
	lastPercent  = 99
)

// progress sends how far a job is. It may be used by many goroutines at once.
type progress struct {
	sender    pluginworker.ExecutionSender
	now       func() time.Time
	requestID string
	jobID     string
	jobType   string
	mu        struct {
		sync.Mutex
		last time.Time
	}
}

// report implements reportFunc.
func (p *progress) report(done float64, stage string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if !p.mu.last.IsZero() && now.Sub(p.mu.last) < progressPause {
		return
	}
	p.mu.last = now
	// A message that gets lost is made up for by the next one, and a stream that is
	// gone cancels the job by itself.
	_ = p.sender.SendProgress(&plugin_pb.JobProgressUpdate{
		RequestId:       p.requestID,
		JobId:           p.jobID,
		JobType:         p.jobType,
		State:           plugin_pb.JobState_JOB_STATE_RUNNING,
		ProgressPercent: firstPercent + min(max(done, 0), 1)*(lastPercent-firstPercent),
		Stage:           stage,
		Message:         stage,
	})
}
