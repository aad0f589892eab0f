// Package alias gives a flag of a weed command a second name.
package alias

import (
	"fmt"
	"strings"

	flag "github.com/seaweedfs/seaweedfs/weed/util/fla9"
)

// BothError is returned when a flag and its alias are both given: neither
// reading of that would surprise nobody.
type BothError struct{ Alias, Name string }

func (e *BothError) Error() string {
	return fmt.Sprintf("-%s and -%s are two names of one setting: give one of them", e.Alias, e.Name)
}

// Apply carries the value that was given under the alias over to the flag. It
// is called when the command line has been parsed; environment is os.LookupEnv.
//
// weed takes a flag also from the environment variable of its name in capitals.
// For an alias such as jobs that would be JOBS, which build tools set to a
// number: what only an environment variable says does not count here.
func Apply(flags *flag.FlagSet, alias, name string, commandLine []string, environment func(string) (string, bool)) error {
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) {
		value, ok := environment(strings.ToUpper(f.Name))
		given[f.Name] = !ok || value != f.Value.String() || mentions(commandLine, f.Name)
	})
	if !given[alias] {
		return nil
	}
	if given[name] {
		return &BothError{Alias: alias, Name: name}
	}
	return flags.Set(name, flags.Lookup(alias).Value.String())
}

// mentions tells whether a command line sets the flag.
func mentions(commandLine []string, name string) bool {
	for _, arg := range commandLine {
		bare, dashed := strings.CutPrefix(arg, "-")
		bare, _, _ = strings.Cut(strings.TrimPrefix(bare, "-"), "=")
		if dashed && bare == name {
			return true
		}
	}
	return false
}
