package lanceworker

import (
	"context"
	"fmt"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
)

const cleanupType = "lance_cleanup_versions"

var (
	retainHours = number{
		name:  "retain_hours",
		label: "Retain versions for (hours)",
		help:  "No version is removed before it is this old. A table whose own lance.auto_cleanup settings keep more has more kept, here and below.",
		def:   168,
		min:   1,
		max:   8760,
		floor: new(int64),
	}
	minVersions = number{
		name:  "min_versions_to_keep",
		label: "Minimum versions",
		help:  "This many of the newest versions stay, however old they are.",
		def:   5,
		min:   1,
		max:   1000,
	}
)

// cleanupJob is lance_cleanup_versions.
type cleanupJob struct {
	engine  cleanupEngine
	metrics *metrics
	now     func() time.Time
}

// cleanupEngine is what the job needs of the table format.
type cleanupEngine struct {
	detect func(ctx context.Context, s sighting, p cleanup.Policy) (cleanup.Detection, error)
	run    func(ctx context.Context, e entry, o cleanup.Options) (cleanup.Result, error)
}

func (*cleanupJob) describe() description {
	return description{
		jobType:     cleanupType,
		verb:        "Clean up",
		doing:       "cleaning up",
		displayName: "Lance Version Cleanup",
		about:       "Removes versions of Lance tables that are due, and the files that only they name.",
		icon:        "fas fa-broom",
		weight:      10,
		formID:      "lance-cleanup-worker",
		formTitle:   "Version cleanup",
		fields:      []number{retainHours, minVersions},
	}
}

func (j *cleanupJob) configure(values map[string]*plugin_pb.ConfigValue) task {
	return cleanupTask{
		cleanupJob: j,
		policy: cleanup.Policy{
			Retain:      time.Duration(retainHours.read(values)) * time.Hour,
			MinVersions: int(minVersions.read(values)),
		},
	}
}

type cleanupTask struct {
	*cleanupJob
	policy cleanup.Policy
}

// slowestVersions is how many versions a second a run reads and removes at
// worst, with the files that they alone name.
const slowestVersions = 5

func (t cleanupTask) inspect(ctx context.Context, s sighting) (finding, error) {
	d, err := t.engine.detect(ctx, s, t.policy)
	if err != nil {
		return finding{}, err
	}
	return finding{
		seen:    true,
		due:     d.Due,
		size:    count(d.Versions, "version"),
		reason:  d.Reason,
		runtime: runtimeAtWorst(int64(d.Versions), slowestVersions),

		newest:   d.Newest,
		versions: d.Versions,
	}, nil
}

func (t cleanupTask) run(ctx context.Context, e entry, report reportFunc) (outcome, error) {
	report(0, "finding out which versions are due")
	r, err := t.engine.run(ctx, e, cleanup.Options{
		Policy: t.policy,
		Now:    t.now,
		Progress: func(done, total int) {
			report(fraction(int64(done), int64(total)), fmt.Sprintf("removing: %d of %s gone", done, count(total, "object")))
		},
	})
	t.metrics.versionsRemoved.Add(float64(r.OldVersionsRemoved))
	t.metrics.bytesReclaimed.Add(float64(r.BytesRemoved))
	o := outcome{changed: r.Changed}
	if kept := max(t.policy.MinVersions, r.Policy.MinVersions); !r.Changed && err == nil && r.Versions <= kept {
		// No outputs: nothing was up for removal.
		o.summary = fmt.Sprintf("all %s stay, as at least %d are kept", count(r.Versions, "version"), kept)
		return o, nil
	}
	o.values = map[string]int64{
		"old_versions_removed": int64(r.OldVersionsRemoved),
		"bytes_removed":        r.BytesRemoved,
		"data_files_removed":   int64(r.DataFilesRemoved),
	}
	o.summary = fmt.Sprintf("removed %s and %s, %s left", count(r.OldVersionsRemoved, "version"), byteText(r.BytesRemoved), count(r.Versions, "version"))
	if kept := keptWords(r.Kept); kept != "" {
		o.summary += "; kept though due: " + kept
	}
	return o, err
}
