package matrix_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// ways in which a table of the matrix is made ready for a compaction: its rows once more, the same with every third row
// deleted, rows that don't have the column, and its rows alone with every third deleted. They are what "copied" and "joined", "decoded
// and encoded", "filled" and "pruned" come from.
var ways = []string{"joined", "deleted", "filled", "pruned"}

// compaction is one table of the matrix on its way.
type compaction struct {
	cell matrix.Cell
	way  string
	// folder is its number below the directory of its part.
	folder int
	before json.RawMessage
	result compact.Result
}

func (c *compaction) String() string { return c.cell.Name + ", " + c.way }

// compactions counts what became of them.
type compactions struct {
	t                                        *testing.T
	asked, ready, merged, left, wrong, onTop int
	judge                                    *oracle.Lance
	kinds                                    map[string]int
	failed                                   map[string]bool
}

// waysOf are the ways that a cell is tried in: one in quick runs and in full ones, all where cells were named.
func waysOf(c matrix.Cell) []string {
	if os.Getenv("SEAWEED_LANCE_CELLS") != "" {
		return ways
	}
	i := int(seed(c.Name) / 5 % uint64(len(ways)))
	return ways[i : i+1]
}

// compactShare is which part of all cells a full run takes: all take an hour.
const compactShare = 4

// TestCompactMatrix compacts the tables of the matrix: Lance reads every value back equal, validates the table,
// and appends, deletes, compacts and indexes on top.
func TestCompactMatrix(t *testing.T) {
	newest := oracle.Start(t, oracle.Newest)
	var all []matrix.Cell
	newest.Do(t, "cells", nil, &all)
	m := &compactions{t: t, kinds: map[string]int{}, failed: map[string]bool{}}
	defer m.close()
	for _, w := range writers(chosen(t, all)) {
		lance := newest
		if w.release != oracle.Newest || w.env != "" {
			lance = oracle.Start(t, w.release, w.environment()...)
		}
		var jobs []*compaction
		for _, c := range w.cells {
			if full() && os.Getenv("SEAWEED_LANCE_CELLS") == "" && seed(c.Name)%compactShare != 0 {
				continue
			}
			for _, way := range waysOf(c) {
				jobs = append(jobs, &compaction{cell: c, way: way})
			}
		}
		for part := range slices.Chunk(jobs, 25) {
			m.part(lance, part)
		}
	}
	m.report()
}

// part makes tables, compacts them and has them judged.
func (m *compactions) part(writer *oracle.Lance, jobs []*compaction) {
	dir := m.t.TempDir()
	defer os.RemoveAll(dir)
	m.asked += len(jobs)
	names, pairs := []string{}, [][2]string{}
	for i, j := range jobs {
		j.folder = i
		names, pairs = append(names, j.cell.Name), append(pairs, [2]string{j.cell.Name, j.way})
	}
	var written []matrix.Written
	writer.Do(m.t, "write_cells", oracle.Args{"root": dir, "names": names}, &written)
	ready := m.prepare(dir, pairs)
	var done []*compaction
	var ask [][]any
	for i, j := range jobs {
		var state struct{ Reason string }
		if err := json.Unmarshal(ready[i], &state); err != nil {
			m.t.Fatal(err)
		}
		if state.Reason != "" {
			m.kinds["Lance can't: "+matrix.Written{Reason: state.Reason}.Kind()]++
			continue
		}
		m.ready++
		j.before = ready[i]
		if !m.compact(j, filepath.Join(dir, strconv.Itoa(i), "t")) {
			continue
		}
		done = append(done, j)
		ask = append(ask, []any{j.cell.Name, i, j.before, j.result.FragmentsAdded > 0})
	}
	if len(done) == 0 {
		return
	}
	var judged []struct {
		Wrong, Top, Theirs string
		Fragments          int
	}
	m.lance().Do(m.t, "judge_cells", oracle.Args{"root": dir, "jobs": ask}, &judged)
	for i, j := range done {
		x := judged[i]
		switch {
		case x.Wrong != "":
			var own string
			m.lance().Do(m.t, "fate", oracle.Args{"name": j.cell.Name, "root": filepath.Join(dir, strconv.Itoa(j.folder))}, &own)
			m.fail(j, fmt.Sprintf("%s (after Lance's own compaction: %q)", x.Wrong, own))
		case x.Top != "" && x.Theirs == "":
			m.fail(j, "on top: "+x.Top)
		case x.Top != "":
			m.kinds["Lance can't go on with its own, either: "+matrix.Written{Reason: x.Theirs}.Kind()]++
		case j.result.FragmentsAdded > 0:
			m.onTop++
		}
	}
}

// lance is the process that makes tables ready and judges them.
func (m *compactions) lance() *oracle.Lance {
	m.t.Helper()
	if m.judge == nil {
		var err error
		if m.judge, err = oracle.Open(m.t.Context(), oracle.Newest); err != nil {
			m.t.Fatal(err)
		}
	}
	return m.judge
}

func (m *compactions) close() {
	if m.judge != nil {
		_ = m.judge.Close() // it may have died
		m.judge = nil
	}
}

// prepare makes tables ready. There are some at which Lance's process dies, of what it has written itself: it is then asked for
// them one by one.
func (m *compactions) prepare(dir string, pairs [][2]string) (ready []json.RawMessage) {
	m.t.Helper()
	if err := m.lance().Try("prepare_cells", oracle.Args{"root": dir, "first": 0, "jobs": pairs}, &ready); err == nil {
		return ready
	}
	ready = nil
	m.close()
	for i, p := range pairs {
		var one []json.RawMessage
		os.RemoveAll(filepath.Join(dir, strconv.Itoa(i), "asmade"))
		if err := m.lance().Try("prepare_cells", oracle.Args{"root": dir, "first": i, "jobs": [][2]string{p}}, &one); err != nil {
			m.close()
			one = []json.RawMessage{[]byte(`{"reason": "Lance dies"}`)}
		}
		ready = append(ready, one...)
	}
	return ready
}

// compact runs ours on a table, twice.
func (m *compactions) compact(j *compaction, dir string) bool {
	s, err := dirstore.New(dir, dirstore.Options{NoSync: true})
	if err != nil {
		m.t.Fatal(err)
	}
	defer s.Close()
	j.result, err = compact.Run(m.t.Context(), s, compact.Options{})
	if err != nil {
		m.fail(j, err.Error())
		return false
	}
	again, err := compact.Run(m.t.Context(), s, compact.Options{})
	if err != nil || again.Changed || len(again.Plan.Tasks) > 0 {
		m.fail(j, fmt.Sprintf("a second run goes on: %+v, error %v", again, err))
	}
	if j.result.FragmentsRemoved > 0 {
		m.merged++
		return true
	}
	for _, l := range j.result.Plan.Left {
		if l.Kind == compact.Fine {
			continue
		}
		m.left++
		m.kinds["left: "+matrix.Written{Reason: strings.ReplaceAll(l.Reason, j.cell.Name, "")}.Kind()]++
		if l.Kind == compact.Broken {
			m.fail(j, "said to be broken: "+l.Reason)
		}
		break
	}
	return true
}

// fail complains of the first table of each kind.
func (m *compactions) fail(j *compaction, text string) {
	m.wrong++
	kind := digits.ReplaceAllString(text, "#")
	if m.failed[kind] {
		m.t.Logf("%s: %s", j, text)
		return
	}
	m.failed[kind] = true
	m.t.Errorf("%s: %s", j, text)
}

func (m *compactions) report() {
	m.t.Logf("%d tables asked for, %d ready, %d merged, %d left, %d wrong, %d gone on with", m.asked, m.ready, m.merged, m.left, m.wrong, m.onTop)
	var lines []string
	for k, n := range m.kinds {
		lines = append(lines, fmt.Sprintf("%5d %s", n, k))
	}
	slices.Sort(lines)
	m.t.Log(strings.Join(lines, "\n"))
	if os.Getenv("SEAWEED_LANCE_CELLS") == "" && m.merged < m.ready/2 {
		m.t.Errorf("only %d of %d were merged", m.merged, m.ready)
	}
}
