// Package weedcmd adds the Lance commands to a weed build that imports it:
//
//	import _ "github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd"
//
// These are
//
//   - `weed worker -jobs=…`, another name of -jobType. Both at once end with exit
//     status 2.
//   - `weed worker` gives running Lance jobs lanceworker.StopGrace to stop and to
//     remove what they had written, when it is told to end.
//   - `weed worker` and `weed mini` tell the Lance jobs where admin listens, so that
//     its pages show what is in Lance tables.
//   - `weed lance`, the jobs at a shell; see the package internal/shell below.
//
// It imports weed/command, so it is for a weed's main package alone; everything
// else is in lanceworker, which doesn't. The commands are added when the package
// is initialised, before the importer's own variables are: a main package that
// copies command.Commands into a variable has them.
package weedcmd

import (
	"github.com/seaweedfs/seaweedfs/weed/command"

	// A weed with these commands serves the job types too.
	_ "github.com/seaweedfs/seaweed-lance/lanceworker"
)

func init() {
	for _, cmd := range command.Commands {
		switch cmd.Name() {
		case "worker":
			addJobs(cmd)
			drainAfter(cmd)
		case "mini":
			reachOwnAdmin(cmd)
		}
	}
	command.Commands = append(command.Commands, lanceCommand())
}
