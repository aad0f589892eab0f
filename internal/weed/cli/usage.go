package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/command"
	flag "github.com/seaweedfs/seaweedfs/weed/util/fla9"
)

func usage(w io.Writer) {
	fmt.Fprint(w, "SeaweedFS with maintenance of Lance tables.\n\nUsage:\n\n\tweed [logging options] command [arguments]\n\nThe commands are:\n\n")
	for _, cmd := range command.Commands {
		if cmd.Runnable() {
			fmt.Fprintf(w, "    %-11s %s\n", cmd.Name(), cmd.Short)
		}
	}
	fmt.Fprint(w, "\nRun 'weed help command' for more about one of them.\n\nThe logging options are:\n")
	flag.CommandLine.SetOutput(w)
	flag.PrintDefaults()
}

// help prints what one command does and its flags.
func help(args []string) int {
	switch len(args) {
	case 0:
		usage(os.Stdout)
		return 0
	case 1:
	default:
		fmt.Fprintln(os.Stderr, "usage: weed help command")
		return 2
	}
	cmd := find(args[0])
	if cmd == nil {
		fmt.Fprintf(os.Stderr, "weed: no help for %q: unknown command\nRun 'weed help' for usage.\n", args[0])
		return 2
	}
	fmt.Printf("Usage: weed %s\n\n  %s\n\nFlags:\n", cmd.UsageLine, strings.TrimSpace(cmd.Long))
	cmd.Flag.SetOutput(os.Stdout)
	cmd.Flag.PrintDefaults()
	return 0
}
