package weedcmd

import (
	"github.com/seaweedfs/seaweedfs/weed/command"

	"github.com/seaweedfs/seaweed-lance/lanceworker"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/adminflags"
)

// reachOwnAdmin tells the jobs in the worker of `weed mini` where the admin
// server in the same process listens.
func reachOwnAdmin(mini *command.Command) {
	run := mini.Run
	mini.Run = func(cmd *command.Command, args []string) bool {
		lanceworker.ReachAdmin(func() string { return adminflags.OfMini(&cmd.Flag) })
		return run(cmd, args)
	}
}
