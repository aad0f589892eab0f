package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Admin is a client of the admin server's API, as far as jobs go.
type Admin struct{ base string }

// URL of the page that shows the Lance jobs.
func (a *Admin) URL() string { return a.base + "/plugin/lanes/lance" }

// JobTypes lists the job types that admin knows from its workers.
func (a *Admin) JobTypes(ctx context.Context) ([]string, error) {
	var out []struct {
		JobType string `json:"job_type"`
	}
	if err := call(ctx, http.MethodGet, a.base+"/api/plugin/job-types", nil, nil, &out); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(out))
	for _, o := range out {
		names = append(names, o.JobType)
	}
	return names, nil
}

// Configure sets whole-number settings of a job type's form, and leaves its
// other settings as they are.
func (a *Admin) Configure(ctx context.Context, jobType string, settings map[string]int64) error {
	return a.change(ctx, jobType, func(config map[string]any) {
		values := object(config, "worker_config_values")
		for name, v := range settings {
			values[name] = map[string]string{"int64_value": strconv.FormatInt(v, 10)}
		}
	})
}

// Enable switches the schedule of a job type on or off.
func (a *Admin) Enable(ctx context.Context, jobType string, on bool) error {
	return a.change(ctx, jobType, func(config map[string]any) {
		object(config, "admin_runtime")["enabled"] = on
	})
}

// Config is what admin keeps for a job type, as its API shows it.
func (a *Admin) Config(ctx context.Context, jobType string) (map[string]any, error) {
	config := make(map[string]any)
	return config, call(ctx, http.MethodGet, a.job(jobType, "config"), nil, nil, &config)
}

func (a *Admin) change(ctx context.Context, jobType string, f func(map[string]any)) error {
	config, err := a.Config(ctx, jobType)
	if err != nil {
		return err
	}
	f(config)
	return call(ctx, http.MethodPut, a.job(jobType, "config"), nil, config, nil)
}

// object is the object under a name, made where there is none.
func object(in map[string]any, name string) map[string]any {
	o, ok := in[name].(map[string]any)
	if !ok {
		o = make(map[string]any)
		in[name] = o
	}
	return o
}

// Proposal is what a detection proposes.
type Proposal struct {
	ID      string         `json:"proposal_id"`
	Summary string         `json:"summary"`
	Detail  string         `json:"detail"`
	Params  map[string]any `json:"parameters"`
}

// Detection is the answer to Detect.
type Detection struct {
	Proposals []Proposal `json:"proposals"`
	Error     string     `json:"error"`
}

// Detect has a worker look for work, and starts none. maxResults of 0 means
// admin's own default.
func (a *Admin) Detect(ctx context.Context, jobType string, maxResults int) (*Detection, error) {
	out := new(Detection)
	return out, call(ctx, http.MethodPost, a.job(jobType, "detect"), nil, map[string]int{"max_results": maxResults}, out)
}

// JobRun is the answer to Run.
type JobRun struct {
	Detected  int `json:"detected_count"`
	Ready     int `json:"ready_to_execute_count"`
	Active    int `json:"skipped_active_count"`
	Executed  int `json:"executed_count"`
	Succeeded int `json:"success_count"`
	Failed    int `json:"error_count"`
	Canceled  int `json:"canceled_count"`
}

// Run has a worker look for work and then workers do it; it returns when they are done.
func (a *Admin) Run(ctx context.Context, jobType string) (*JobRun, error) {
	out := new(JobRun)
	return out, call(ctx, http.MethodPost, a.job(jobType, "run"), nil, struct{}{}, out)
}

// Job is a job as admin tracks it.
type Job struct {
	ID         string         `json:"job_id"`
	Type       string         `json:"job_type"`
	Worker     string         `json:"worker_id"`
	DedupeKey  string         `json:"dedupe_key"`
	Summary    string         `json:"summary"`
	Parameters map[string]any `json:"parameters"`
	State      string         `json:"state"`
	Progress   float64        `json:"progress"`
	Stage      string         `json:"stage"`
	Message    string         `json:"message"`
	Error      string         `json:"error_message"`
	Result     string         `json:"result_summary"`
	// Outputs are the job's output values, each a value in its protobuf JSON form.
	Outputs     map[string]any `json:"result_output_values"`
	CompletedAt *time.Time     `json:"completed_at"`
}

// Output is the number that a job reported under a name.
func (j *Job) Output(name string) (int64, error) {
	v, ok := j.Outputs[name].(map[string]any)
	if !ok {
		return 0, fmt.Errorf("job %s reported no %s but %v", j.ID, name, j.Outputs)
	}
	if s, ok := v["int64_value"].(string); ok {
		return strconv.ParseInt(s, 10, 64)
	}
	return 0, fmt.Errorf("job %s reported %s as %v, no whole number", j.ID, name, v)
}

// Job is one job with all that admin keeps of it: lists leave parameters and
// outputs out.
func (a *Admin) Job(ctx context.Context, id string) (*Job, error) {
	var out struct {
		Job *Job `json:"job"`
	}
	err := call(ctx, http.MethodGet, a.base+"/api/plugin/jobs/"+url.PathEscape(id)+"/detail", nil, nil, &out)
	if err == nil && out.Job == nil {
		err = fmt.Errorf("admin knows no job %s", id)
	}
	return out.Job, err
}

// Jobs lists the jobs of a type that admin tracks, without parameters and outputs.
func (a *Admin) Jobs(ctx context.Context, jobType string) ([]Job, error) {
	var out []Job
	return out, call(ctx, http.MethodGet, a.base+"/api/plugin/jobs?job_type="+url.QueryEscape(jobType), nil, nil, &out)
}

// Workers lists the ids of the workers that are connected.
func (a *Admin) Workers(ctx context.Context) ([]string, error) {
	var out []struct {
		ID string `json:"WorkerID"`
	}
	if err := call(ctx, http.MethodGet, a.base+"/api/plugin/workers", nil, nil, &out); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(out))
	for _, o := range out {
		ids = append(ids, o.ID)
	}
	return ids, nil
}

func (a *Admin) job(jobType, action string) string {
	return a.base + "/api/plugin/job-types/" + url.PathEscape(jobType) + "/" + action
}
