package shell

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// parse takes flags before and after the positional arguments, as people type
// them; flag itself stops at the first positional one. After -- there are no
// more flags.
func parse(flags *flag.FlagSet, args []string) (positional []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if len(rest) == 0 {
			return positional, nil
		}
		if used := len(args) - len(rest); used > 0 && args[used-1] == "--" {
			return append(positional, rest...), nil
		}
		positional = append(positional, rest[0])
		args = rest[1:]
	}
}

// intFlag is a whole number of a range, whose bounds the error names.
type intFlag struct {
	value    int64
	min, max int64
}

func (f *intFlag) String() string { return fmt.Sprint(f.value) }

func (f *intFlag) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < f.min || v > f.max {
		if f.max == math.MaxInt64 {
			return fmt.Errorf("not a whole number from %d on", f.min)
		}
		return fmt.Errorf("not a whole number from %d to %d", f.min, f.max)
	}
	f.value = v
	return nil
}

// number adds a flag for a whole number of a range.
func number(flags *flag.FlagSet, name string, value, min, max int64, usage string) *int64 {
	f := &intFlag{value: value, min: min, max: max}
	flags.Var(f, name, usage)
	return &f.value
}

// maxHours keeps a number of hours inside time.Duration.
const maxHours = int64(1<<63-1) / int64(time.Hour)

// Help describes `weed lance` as a whole.
func Help() string {
	var b strings.Builder
	b.WriteString("Usage:\n\n")
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "    weed lance %-17s %-18s %s\n", s.name, s.args, s.short)
	}
	b.WriteString(`
TABLE is the directory of a table, or bucket/namespace/table together with
-filer=host:port. Flags may stand before or after it. Run
'weed lance SUBCOMMAND -h' for the flags of one subcommand.

Exit status: 0 done or nothing to do, 1 failed, 2 wrong usage, 3 refused or
left alone because something in the table is not understood or not supported;
the reason is on stderr.
`)
	return b.String()
}

func (s subcommand) help(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintf(w, "Usage: weed lance %s %s\n\n%s\n", s.name, s.args, strings.TrimSpace(s.long))
	fmt.Fprint(w, "\nFlags:\n")
	flags.SetOutput(w)
	flags.PrintDefaults()
}
