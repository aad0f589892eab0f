package shell

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

// The job's own defaults.
const (
	defaultRetainHours = 168
	defaultMinVersions = 5
)

var cleanupCommand = subcommand{
	name:  "cleanup-versions",
	args:  "[flags] TABLE",
	short: "remove old versions and the files that only they need",
	long: `Removes versions that are older than -retain_hours and not among the newest
-min_versions_to_keep, then the files that no version needs any more. Tagged
versions, and those that a branch starts from, stay. Files that no version ever
named go when they are 7 days old.

A table whose own config asks for more to be kept, under
lance.auto_cleanup.older_than and .retain_versions, has more kept, whatever the flags say.`,
	define: func(flags *flag.FlagSet) action {
		var t target
		t.define(flags)
		hours := number(flags, "retain_hours", defaultRetainHours, 0, maxHours, "keep every version that was made within the last `hours`; 0 keeps none for its age")
		versions := number(flags, "min_versions_to_keep", defaultMinVersions, 0, math.MaxInt32, "keep that many of the newest `versions` whatever their age; the newest stays in any case")
		dry := flags.Bool("dry-run", false, "remove nothing, show what would go")
		return func(ctx context.Context, c *call, args []string) error {
			s, done, err := t.open(ctx, c, args)
			if err != nil {
				return t.fail(c, err)
			}
			defer done()
			line := newProgress(c)
			r, err := cleanup.Run(ctx, s, cleanup.Options{
				Policy:    cleanup.Policy{Retain: time.Duration(*hours) * time.Hour, MinVersions: int(*versions)},
				DryRun:    *dry,
				Abandoned: func(tag string) bool { return pin.Abandoned(tag, time.Now()) },
				Progress: func(done, total int) {
					line.show("%s of %s removed", grouped(int64(done)), count(total, "file"))
				},
			})
			line.done()
			if t.json {
				return firstError(err, object(c.stdout, cleanupJSON(r, err, *dry)))
			}
			if err != nil && !r.Changed {
				return err
			}
			return firstError(err, printCleanup(c.stdout, r, *dry))
		}
	},
}

func printCleanup(w io.Writer, r cleanup.Result, dry bool) error {
	verb := "removed"
	if dry {
		verb = "would remove"
	}
	text := "nothing to remove"
	if r.OldVersionsRemoved > 0 || r.FilesRemoved > 0 {
		text = fmt.Sprintf("%s %s and %s, %s", verb, count(r.OldVersionsRemoved, "version"), count(r.FilesRemoved, "file"), size(r.BytesRemoved))
	}
	if _, err := fmt.Fprintf(w, "%s; %s left\n", text, count(r.Versions, "version")); err != nil {
		return err
	}
	if len(r.Files) > 0 {
		list := []string{"\nfile\tsize\twhy"}
		for _, f := range r.Files {
			list = append(list, fmt.Sprintf("%s\t%s\t%s", f.Name, size(f.Size), f.Reason))
		}
		if err := rows(w, list...); err != nil {
			return err
		}
	}
	if len(r.Kept) == 0 {
		return nil
	}
	list := []string{"\nversion kept\twhy"}
	for _, k := range r.Kept {
		list = append(list, fmt.Sprintf("%d\t%s", k.Version, k.Reason))
	}
	return rows(w, list...)
}
