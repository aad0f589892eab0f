package weedcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/seaweedfs/seaweedfs/weed/command"
	"github.com/seaweedfs/seaweedfs/weed/glog"
	"github.com/seaweedfs/seaweedfs/weed/util/grace"

	"github.com/seaweedfs/seaweed-lance/lanceworker"
)

// drainAfter lets a worker's running jobs stop in order before the process
// ends, which it otherwise does as soon as the command returns.
func drainAfter(worker *command.Command) {
	run := worker.Run
	worker.Run = func(cmd *command.Command, args []string) bool {
		ok := run(cmd, args)
		ctx, cancel := context.WithTimeout(context.Background(), lanceworker.StopGrace)
		defer cancel()
		if err := lanceworker.Shutdown(ctx); err != nil {
			glog.Warningf("Stopping Lance jobs: %v", err)
		}
		return ok
	}
}

// interruptible calls f with a context that ends with the first Ctrl-C or
// SIGTERM; the second ends the process at once.
func interruptible(f func(context.Context) int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result := make(chan int, 1)
	// Weed ends its process with status 0 when a signal arrives, after its hooks:
	// this one doesn't return before f does.
	grace.OnInterrupt(func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		cancel()
		select {
		case status := <-result:
			os.Exit(status)
		case <-again:
			os.Exit(128 + int(syscall.SIGINT))
		}
	})
	status := f(ctx)
	result <- status
	return status
}
