package shell

import (
	"context"
	"flag"
)

var demoCommand = subcommand{
	name:  "demo",
	args:  "[-exit]",
	short: "a cluster with a small table, compacted and cleaned",
	long: `Starts a small cluster on free ports of this machine, puts a table of many
small fragments into a table bucket, lets admin propose its compaction and the
worker compact it and remove its old versions, and shows the table before and
after. The admin page then stays open until Ctrl-C. Data lie in a temporary
directory, which is removed in the end.`,
	define: func(flags *flag.FlagSet) action {
		exit := flags.Bool("exit", false, "end after the last line instead of waiting for Ctrl-C")
		return func(ctx context.Context, c *call, args []string) error {
			if len(args) > 0 {
				return usagef("demo takes no arguments")
			}
			if c.env.Demo == nil {
				return usagef("this build has no demo")
			}
			return c.env.Demo(ctx, c.stdout, c.stderr, !*exit)
		}
	},
}
