package weedcmd

import (
	"context"
	"os"

	"github.com/seaweedfs/seaweedfs/weed/command"
	"github.com/seaweedfs/seaweedfs/weed/glog"

	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/demo"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/shell"
	"github.com/seaweedfs/seaweed-lance/testdata"
)

// lanceCommand is `weed lance`.
func lanceCommand() *command.Command {
	return &command.Command{
		UsageLine: "lance inspect|schema|head|pages|plan|compact|cleanup-versions|demo [flags] TABLE",
		Short:     "read, inspect and maintain a Lance table, in a directory or on a cluster",
		Long:      "Reads, inspects and maintains one Lance table, as the jobs of `weed worker` do.\n\n" + shell.Help(),
		Run:       runLance,
	}
}

func runLance(_ *command.Command, args []string) bool {
	status := interruptible(func(ctx context.Context) int {
		return shell.Run(ctx, args, os.Stdout, os.Stderr, shell.Env{
			Table:    clusterTable,
			Demo:     demo.Demo{Table: testdata.ManyAppends(), Open: clusterTable}.Run,
			Refusals: []error{filerstore.ErrEncrypted, filerstore.ErrKeys},
			Terminal: isTerminal(os.Stderr),
		})
	})
	if status != 0 {
		// Not left to the caller: not every main function passes a status on, and
		// a script must be able to rely on it.
		glog.Flush()
		os.Exit(status)
	}
	return true
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
