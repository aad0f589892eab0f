// Package shell is `weed lance`: the jobs on one table, and what is in it, for a
// person or a script at a shell.
//
// Each subcommand is a file of its own. What it prints on stdout is its result:
// text for people, or with -json one object. Everything else goes to stderr:
// progress where that is a terminal, and the reason of every exit status but 0.
//
// With -json an object also comes with a status other than 0 (but wrong usage):
// then it has "error", and "changed" tells what had happened before.
package shell

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/session"
)

// Exit statuses of Run.
const (
	// Done, or nothing to do.
	Done = 0
	// Failed, or interrupted.
	Failed = 1
	// Usage is wrong.
	Usage = 2
	// Refused: something in the table is not understood or not supported, so it
	// was left alone.
	Refused = 3
)

// Env is what Run takes from the program around it.
type Env struct {
	// Table returns where bucket/namespace/table is on the cluster of these
	// filers, and what ends the connection. A name that no table can have is
	// ErrUsage. Without Table only directories are available.
	Table func(ctx context.Context, filers []string, name string) (session.Location, func(), error)
	// Demo runs the demonstration; with stay it waits in the end until ctx is
	// over. Without it there is none.
	Demo func(ctx context.Context, stdout, stderr io.Writer, stay bool) error
	// Refusals are errors of the storage that mean Refused, besides the engine's.
	Refusals []error
	// Terminal tells that stderr is a terminal.
	Terminal bool
}

// A subcommand of `weed lance`.
type subcommand struct {
	name string
	// args is what follows the flags in the usage line.
	args  string
	short string
	// long is the rest of its help.
	long string
	// define adds the flags and returns what runs when they are parsed.
	define func(*flag.FlagSet) action
}

// action does a subcommand's work with the positional arguments.
type action func(ctx context.Context, c *call, args []string) error

// call is one run of a subcommand.
type call struct {
	env            Env
	stdout, stderr io.Writer
}

func subcommands() []subcommand {
	return []subcommand{inspectCommand, schemaCommand, headCommand, pagesCommand, planCommand, compactCommand, cleanupCommand, demoCommand}
}

// ErrUsage makes an error a matter of wrong usage.
var ErrUsage = errors.New("wrong usage")

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUsage, fmt.Sprintf(format, args...))
}

// leftError ends a command with Refused although it ran well: what it left
// alone, it left for want of support or understanding.
type leftError struct{ text string }

func (e *leftError) Error() string { return e.text }

// Run runs `weed lance args…` and returns the exit status.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, env Env) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, Help())
		return Usage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) > 1 {
			return Run(ctx, []string{args[1], "-h"}, stdout, stderr, env)
		}
		fmt.Fprint(stdout, Help())
		return Done
	}
	for _, s := range subcommands() {
		if s.name == args[0] {
			return s.run(ctx, args[1:], &call{env: env, stdout: stdout, stderr: stderr})
		}
	}
	fmt.Fprintf(stderr, "weed lance: unknown subcommand %q\n\n%s", args[0], Help())
	return Usage
}

func (s subcommand) run(ctx context.Context, args []string, c *call) int {
	flags := flag.NewFlagSet(s.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	act := s.define(flags)
	positional, err := parse(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		s.help(c.stdout, flags)
		return Done
	}
	if err != nil {
		err = usagef("%v", err)
	} else {
		err = act(ctx, c, positional)
	}
	if err == nil {
		return Done
	}
	status := c.env.status(err)
	text := err.Error()
	switch {
	case status == Usage:
		text = strings.TrimPrefix(text, ErrUsage.Error()+": ") + fmt.Sprintf("\nRun 'weed lance %s -h' for its arguments and flags.", s.name)
	case ctx.Err() != nil:
		text = "interrupted: " + text
	}
	fmt.Fprintf(c.stderr, "weed lance %s: %s\n", s.name, text)
	return status
}

// status tells which exit status an error calls for.
func (e Env) status(err error) int {
	var left *leftError
	var failed *failedError
	switch {
	case errors.Is(err, ErrUsage):
		return Usage
	case errors.As(err, &failed):
		return Failed
	case errors.As(err, &left):
		return Refused
	}
	for _, refusal := range append([]error{table.ErrRefused, table.ErrCorrupt, column.ErrUnsupported}, e.Refusals...) {
		if errors.Is(err, refusal) {
			return Refused
		}
	}
	return Failed
}
