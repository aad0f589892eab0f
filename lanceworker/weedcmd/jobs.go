package weedcmd

import (
	"fmt"
	"os"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/command"

	"github.com/seaweedfs/seaweed-lance/lanceworker"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/adminflags"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/alias"
)

// addJobs gives `weed worker` the flag -jobs, another name of -jobType.
func addJobs(worker *command.Command) {
	worker.Flag.String("jobs", "", "another name of -jobType: job types or categories to serve, comma-separated; not together with -jobType")
	worker.UsageLine += " [-jobs=<job types>]"
	worker.Long = strings.TrimRight(worker.Long, "\n") + `
  weed worker -admin=localhost:12535 -jobs=lance_compact,lance_cleanup_versions
`
	run := worker.Run
	worker.Run = func(cmd *command.Command, args []string) bool {
		if err := alias.Apply(&cmd.Flag, "jobs", "jobType", os.Args, os.LookupEnv); err != nil {
			fmt.Fprintln(os.Stderr, "weed worker:", err)
			os.Exit(2)
		}
		if id := cmd.Flag.Lookup("id"); id != nil {
			lanceworker.NameWorker(id.Value.String())
		}
		lanceworker.ReachAdmin(func() string { return adminflags.OfWorker(&cmd.Flag) })
		return run(cmd, args)
	}
}
