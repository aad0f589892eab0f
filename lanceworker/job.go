package lanceworker

import (
	"context"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

// job is what one job type adds to the flow that all of them share.
type job interface {
	// describe says what the job type is called and how it is configured.
	describe() description
	// configure binds the job to the settings of a request.
	configure(values map[string]*plugin_pb.ConfigValue) task
}

// task is a job with its settings.
type task interface {
	// inspect looks whether a run would change the table now. It writes
	// nothing. The finding says how far it got, also with an error.
	inspect(ctx context.Context, s sighting) (finding, error)
	// run does the job. The outcome says what had been done, also with an error.
	run(ctx context.Context, e entry, report reportFunc) (outcome, error)
}

// reportFunc takes how far a run is, from 0 to 1, and what it is doing.
type reportFunc func(done float64, stage string)

// finding is what inspect says of a table.
type finding struct {
	// seen: the table could be opened.
	seen bool
	// due: a run would change the table.
	due bool
	// size in few words, for the title of a proposal: "100 fragments".
	size string
	// reason says, due or not, why, with the numbers.
	reason string
	// problem, where it is set, is the class of something that an operator
	// should look at though the table could be read; trouble has the words.
	problem reason
	trouble string
	// runtime is how long a run may take at worst.
	runtime time.Duration
	// facts, where inspect has come by them, is what admin shows of the table.
	facts *facts
	// newest and versions are the number of the newest version and how many
	// there are; 0 where inspect did not see that.
	newest   uint64
	versions int
}

// outcome is what a run did.
type outcome struct {
	// summary in one sentence.
	summary string
	// values are the outputs by name; nil where there are none.
	values map[string]int64
	// changed: the table is better than before, even if an error followed.
	changed bool
	// preempted, where it is not empty, says who was at work already.
	preempted string
}

// description is the static part of a job type.
type description struct {
	jobType string
	// verb starts the title of a proposal: "Compact" lab$ml$v.
	verb string
	// doing heads errors and log lines: "compacting" lab$ml$v.
	doing string

	displayName string
	about       string
	icon        string
	weight      int32
	formID      string
	formTitle   string
	fields      []number
}

const (
	// detectionInterval, in minutes: 600 s.
	detectionInterval = 10
	// detectionTimeout, in seconds. Admin's own is 45 s, too short for many tables.
	detectionTimeout = 600
	// executionTimeout, in seconds. Admin's own cuts a job after 90 s.
	executionTimeout = 3600
	// maxJobsPerDetection is what one detection hands to the queue at once.
	maxJobsPerDetection = 100
	// globalExecutions and workerExecutions are how many jobs of a type run at
	// once in the cluster and on one worker: tables are independent, but one job
	// alone keeps a worker's network busy.
	globalExecutions = 4
	workerExecutions = 1
)

// capability is what a worker offers of the job type.
func (d description) capability(maxExecute int) *plugin_pb.JobTypeCapability {
	return &plugin_pb.JobTypeCapability{
		JobType:                 d.jobType,
		CanDetect:               true,
		CanExecute:              true,
		MaxDetectionConcurrency: 1,
		MaxExecutionConcurrency: int32(min(maxExecute, 1<<16)),
		DisplayName:             d.displayName,
		Description:             d.about,
		Weight:                  d.weight,
	}
}

// descriptor is what admin shows and starts out with.
func (d description) descriptor() *plugin_pb.JobTypeDescriptor {
	return &plugin_pb.JobTypeDescriptor{
		JobType:             d.jobType,
		DisplayName:         d.displayName,
		Description:         d.about,
		Icon:                d.icon,
		DescriptorVersion:   1,
		WorkerConfigForm:    form(d.formID, d.formTitle, d.fields),
		WorkerDefaultValues: defaults(d.fields),
		AdminRuntimeDefaults: &plugin_pb.AdminRuntimeDefaults{
			Enabled:                       false,
			DetectionIntervalMinutes:      detectionInterval,
			DetectionTimeoutSeconds:       detectionTimeout,
			MaxJobsPerDetection:           maxJobsPerDetection,
			GlobalExecutionConcurrency:    globalExecutions,
			PerWorkerExecutionConcurrency: workerExecutions,
			// A failed job comes back through detection, which knows how long
			// to wait; a retry by admin would not.
			RetryLimit:               0,
			RetryBackoffSeconds:      60,
			JobTypeMaxRuntimeSeconds: executionTimeout,
			ExecutionTimeoutSeconds:  executionTimeout,
		},
	}
}

// runtimeAtWorst is how long a run over so many units may take. It is never
// below the limit of a switched-on job type, so that the same job run by hand
// has as much time, and never above what admin takes into account.
func runtimeAtWorst(units, perSecond int64) time.Duration {
	const most = 8 * time.Hour
	seconds := min(units/perSecond, int64(most/time.Second))
	return min(executionTimeout*time.Second+time.Duration(seconds)*time.Second, most)
}
