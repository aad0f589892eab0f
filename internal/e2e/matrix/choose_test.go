package matrix_test

import (
	"hash/fnv"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

// chosen are the cells of this run.
func chosen(t *testing.T, all []matrix.Cell) []matrix.Cell {
	if p := os.Getenv("SEAWEED_LANCE_CELLS"); p != "" {
		re, err := regexp.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all, func(c matrix.Cell) bool { return !re.MatchString(c.Name) })
	}
	if full() {
		return all
	}
	var out []matrix.Cell
	for _, c := range all {
		if seed(c.Name)%5 == 0 {
			out = append(out, c)
		}
	}
	return out
}

func seed(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// writer is a process of Lance, with the cells that it writes.
type writer struct {
	release oracle.Release
	env     string
	cells   []matrix.Cell
}

func (w writer) environment() []string {
	if w.env == "" {
		return nil
	}
	return []string{w.env}
}

func writers(cells []matrix.Cell) []*writer {
	var out []*writer
	for _, c := range cells {
		i := slices.IndexFunc(out, func(w *writer) bool { return string(w.release) == c.Release && w.env == c.Env })
		if i < 0 {
			i, out = len(out), append(out, &writer{release: oracle.Release(c.Release), env: c.Env})
		}
		out[i].cells = append(out[i].cells, c)
	}
	return out
}
