package local_test

import (
	"fmt"
	"os"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// full tells whether everything is to be run, as CI does, or a sample.
func full() bool { return os.Getenv("SEAWEED_LANCE_FULL") == "1" }

// files is all of a recipe's file versions, or the newest one in a quick run.
func files(all []string) []string {
	if full() {
		return all
	}
	return all[len(all)-1:]
}

// recipeCase is a recipe with its variation.
type recipeCase struct {
	recipe oracle.Recipe
	table  oracle.Table
}

func (c recipeCase) String() string {
	s := fmt.Sprintf("%s,files=%s", c.recipe.Name, c.table.FileVersion)
	if c.table.V1Names {
		s += ",V1"
	}
	if c.table.Stable {
		s += ",stable"
	}
	return s
}

// cases vary recipes: every file version, the older manifest names with one of
// them, stable row ids with another; or the newest file version alone. Tables
// that Lance can't read or we refuse have tests of their own.
func cases(recipes []oracle.Recipe) []recipeCase {
	var out []recipeCase
	for _, r := range recipes {
		if !r.Scans || r.Refused {
			continue
		}
		only := r.Stable != nil
		for _, file := range files(r.Files) {
			// Lance has no detached versions under the older names.
			v1 := file == "2.1" && r.Name != "detached"
			out = append(out, recipeCase{r, oracle.Table{FileVersion: file, V1Names: v1, Stable: only && *r.Stable}})
		}
		if full() && !only {
			out = append(out, recipeCase{r, oracle.Table{FileVersion: r.Files[len(r.Files)-1], Stable: true}})
		}
	}
	return out
}

// targets are rows per fragment to compact to, one after the other: few first,
// where a recipe is about sizes, and Lance's default last.
func (c recipeCase) targets() []int64 {
	switch {
	case c.recipe.Name == "mixed_sizes" || c.recipe.Name == "big_between":
		return []int64{60, 500, 1000, 0}
	case full():
		return []int64{60, 0}
	}
	return []int64{0}
}
