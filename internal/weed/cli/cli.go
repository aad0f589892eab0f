// Package cli is the main function of a weed build: it parses the global flags,
// finds the command and runs it. It is a package of its own so that a test
// binary can be that same weed.
//
// Job types and further commands are the importer's: whatever was registered
// with pluginworker or appended to command.Commands when Main runs is there.
package cli

import (
	"embed"
	"fmt"
	"os"

	"github.com/seaweedfs/seaweedfs/weed/command"
	"github.com/seaweedfs/seaweedfs/weed/glog"
	weed_server "github.com/seaweedfs/seaweedfs/weed/server"
	"github.com/seaweedfs/seaweedfs/weed/util"
	flag "github.com/seaweedfs/seaweedfs/weed/util/fla9"
	util_http "github.com/seaweedfs/seaweedfs/weed/util/http"
)

// Log files are kept small, as weed itself does.
const (
	maxLogBytes = 10 << 20
	maxLogFiles = 5
)

// Main runs the command that args name and returns the exit status: 0 done, 1
// failed, 2 wrong usage, or what the command asked for. Many commands end the
// process themselves, and servers return only when they are told to stop. It
// may be called once in a process.
func Main(args []string) int {
	glog.MaxSize, glog.MaxFileCount = maxLogBytes, maxLogFiles
	// weed's own pages lie in its main package, which no other module can embed.
	// Without any file system the servers would fail on the first request for one.
	weed_server.StaticFS = embed.FS{}
	flag.Var(&util.ConfigurationFileDirectory, "config_dir", "directory with toml configuration files")
	flag.Usage = func() {
		usage(os.Stderr)
		os.Exit(2)
	}
	if command.AutocompleteMain(command.Commands) {
		return 0
	}
	if err := flag.CommandLine.Parse(args); err != nil {
		return 2
	}
	args = flag.Args()
	if len(args) == 0 {
		usage(os.Stderr)
		return 2
	}
	if args[0] == "help" {
		return help(args[1:])
	}
	cmd := find(args[0])
	if cmd == nil {
		fmt.Fprintf(os.Stderr, "weed: unknown subcommand %q\nRun 'weed help' for usage.\n", args[0])
		return 2
	}
	return run(cmd, args[1:])
}

func run(cmd *command.Command, args []string) int {
	// A mount helper forks before it does anything; the child makes the client.
	if cmd.Name() != command.GetFuseCommandName() {
		util_http.InitGlobalHttpClient()
	}
	cmd.Flag.Usage = cmd.Usage
	if err := cmd.Flag.Parse(args); err != nil {
		return 2
	}
	status := 0
	if !cmd.Run(cmd, cmd.Flag.Args()) {
		fmt.Fprintln(os.Stderr)
		fmt.Fprintf(os.Stderr, "Run 'weed help %s' for its flags.\n", cmd.Name())
		status = 1
	}
	return max(status, command.CommandExitStatus())
}

func find(name string) *command.Command {
	for _, cmd := range command.Commands {
		if cmd.Name() == name && cmd.Runnable() {
			return cmd
		}
	}
	return nil
}
