package shell

import (
	"fmt"
	"io"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

// printPlan shows tasks and then what is left alone.
func printPlan(w io.Writer, p compact.Plan) error {
	if len(p.Tasks) == 0 {
		if _, err := io.WriteString(w, "nothing to merge\n"); err != nil {
			return err
		}
		return printLeft(w, p)
	}
	list := []string{"merge fragments\tinto\trows\tsize\twhy"}
	var n, outputs int
	var bytes int64
	for _, t := range p.Tasks {
		list = append(list, fmt.Sprintf("%s\t%d\t%s\t%s\t%s", spans(t.Fragments), len(t.Outputs), grouped(t.Rows), size(t.Bytes), t.Reason))
		n, outputs, bytes = n+len(t.Fragments), outputs+len(t.Outputs), bytes+t.Bytes
	}
	list = append(list, fmt.Sprintf("\n%s would become %s, %s read and written", count(n, "fragment"), grouped(int64(outputs)), size(bytes)))
	if err := rows(w, list...); err != nil {
		return err
	}
	return printLeft(w, p)
}

// printLeft shows the fragments that stay, those of one reason together.
func printLeft(w io.Writer, p compact.Plan) error {
	if len(p.Own) > 0 {
		if _, err := fmt.Fprintf(w, "\nby the table's own settings: %s\n", strings.Join(p.Own, ", ")); err != nil {
			return err
		}
	}
	list := []string{"\nleft as they are\twhy"}
	for _, g := range grouping(p.Left, func(compact.Left) bool { return true }) {
		list = append(list, spans(g.ids)+"\t"+g.reason)
	}
	if len(list) == 1 {
		return nil
	}
	return rows(w, list...)
}

type reasonGroup struct {
	reason string
	ids    []uint64
}

// grouping draws the fragments of each reason together, in order of the reasons' first.
func grouping(left []compact.Left, want func(compact.Left) bool) []reasonGroup {
	var groups []reasonGroup
	at := make(map[string]int)
	for _, l := range left {
		if !want(l) {
			continue
		}
		i, ok := at[l.Reason]
		if !ok {
			i = len(groups)
			at[l.Reason] = i
			groups = append(groups, reasonGroup{reason: l.Reason})
		}
		groups[i].ids = append(groups[i].ids, l.Fragment)
	}
	return groups
}

// notDone is a leftError when something broken was left alone, or when nothing
// was done and something unsupported is the reason.
func notDone(p compact.Plan, done bool) error {
	groups := grouping(p.Left, func(l compact.Left) bool {
		return l.Kind == compact.Broken || l.Kind == compact.Unsupported && !done
	})
	if len(groups) == 0 {
		return nil
	}
	var parts []string
	for _, g := range groups {
		what := "fragment "
		if len(g.ids) > 1 {
			what = "fragments "
		}
		parts = append(parts, what+spans(g.ids)+": "+g.reason)
	}
	return &leftError{"left alone: " + strings.Join(parts, "\n  ")}
}
