package shell

import (
	"flag"
	"io"
	"slices"
	"testing"
)

func TestFlagsBeforeAndAfter(t *testing.T) {
	for _, c := range []struct {
		args, positional []string
		json             bool
		hours            int64
	}{
		{args: []string{"t"}, positional: []string{"t"}, hours: 7},
		{args: []string{"-json", "t"}, positional: []string{"t"}, json: true, hours: 7},
		{args: []string{"t", "-json"}, positional: []string{"t"}, json: true, hours: 7},
		{args: []string{"-hours", "3", "t", "--json"}, positional: []string{"t"}, json: true, hours: 3},
		{args: []string{"t", "-hours=0", "u"}, positional: []string{"t", "u"}},
		{args: []string{"--", "-t"}, positional: []string{"-t"}, hours: 7},
		{args: []string{"t", "--", "-json", "u"}, positional: []string{"t", "-json", "u"}, hours: 7},
		{args: []string{}, hours: 7},
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		json := flags.Bool("json", false, "")
		hours := number(flags, "hours", 7, 0, 9, "")
		got, err := parse(flags, c.args)
		if err != nil || !slices.Equal(got, c.positional) || *json != c.json || *hours != c.hours {
			t.Errorf("%q: %q, json %v, hours %d, %v; want %q, %v, %d", c.args, got, *json, *hours, err, c.positional, c.json, c.hours)
		}
	}
}
