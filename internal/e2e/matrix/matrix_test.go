package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// ranges of rows that are read of every table.
const ranges = 200

// least is how many tables the whole matrix must have.
const least = 2000

// TestMatrix has Lance write the matrix, and compares every value of every table. A
// quick run takes every fifth table. SEAWEED_LANCE_CELLS holds a pattern of names
// to take instead; SEAWEED_LANCE_KEEP a directory for the tables that were read wrongly.
func TestMatrix(t *testing.T) {
	newest := oracle.Start(t, oracle.Newest)
	var all []matrix.Cell
	newest.Do(t, "cells", nil, &all)
	if len(all) < least {
		t.Errorf("the matrix has %d tables, want at least %d", len(all), least)
	}
	cells := chosen(t, all)
	m := &run{t: t, kinds: map[string]int{}, seen: map[string]string{}}
	work := make(chan job)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for j := range work {
				m.check(t.Context(), j)
			}
		})
	}
	for _, w := range writers(cells) {
		lance := newest
		if w.release != oracle.Newest || w.env != "" {
			lance = oracle.Start(t, w.release, w.environment()...)
		}
		for part := range slices.Chunk(w.cells, 25) {
			dir := t.TempDir()
			var names []string
			for _, c := range part {
				names = append(names, c.Name)
			}
			var written []matrix.Written
			lance.Do(t, "write_cells", oracle.Args{"root": dir, "names": names}, &written)
			for i, x := range written {
				work <- job{part[i], x, filepath.Join(dir, strconv.Itoa(i))}
			}
		}
	}
	close(work)
	readers.Wait()
	m.report(len(cells), len(cells) == len(all))
}

// job is one table to read.
type job struct {
	cell    matrix.Cell
	written matrix.Written
	dir     string
}

// run gathers what became of the tables.
type run struct {
	t     *testing.T
	tally matrix.Tally

	mu sync.Mutex
	// read tables, and wrong ones.
	read, wrong int
	// kinds counts what Lance refused, seen the first failure of each kind.
	kinds map[string]int
	seen  map[string]string
}

func (m *run) check(ctx context.Context, j job) {
	defer os.RemoveAll(j.dir)
	if j.written.Status != "ok" {
		m.mu.Lock()
		m.kinds[j.written.Status+": "+j.written.Kind()]++
		m.mu.Unlock()
	}
	if j.written.Status == "unwritten" {
		return
	}
	err := m.compare(ctx, j)
	m.mu.Lock()
	defer m.mu.Unlock()
	if j.written.Status == "unread" && errors.Is(err, column.ErrUnsupported) {
		// Nobody reads it, and this module says so.
		m.kinds["unsupported here as well: "+j.written.Kind()]++
		m.t.Logf("neither reads %s: %v", j.cell.Name, err)
		return
	}
	m.read++
	if err == nil {
		return
	}
	m.wrong++
	kind := digits.ReplaceAllString(err.Error(), "#")
	if m.seen[kind] == "" {
		m.t.Errorf("%s (%s): %v", j.cell.Name, j.written.Status, err)
		m.keep(j)
	}
	m.seen[kind] = j.cell.Name
}

var digits = regexp.MustCompile(`[0-9a-f]*\d[0-9a-f]*|".*"`)

// keep saves a table for a closer look.
func (m *run) keep(j job) {
	dir := os.Getenv("SEAWEED_LANCE_KEEP")
	if dir == "" {
		return
	}
	to := filepath.Join(dir, fmt.Sprintf("%016x", seed(j.cell.Name)))
	if err := os.CopyFS(to, os.DirFS(j.dir)); err != nil && !errors.Is(err, fs.ErrExist) {
		m.t.Error(err)
	}
	m.t.Logf("kept in %s", to)
}

// compare reads one table in every way.
func (m *run) compare(ctx context.Context, j job) error {
	s, err := dirstore.New(filepath.Join(j.dir, "t"), dirstore.Options{NoSync: true})
	if err != nil {
		return err
	}
	defer s.Close()
	t, err := table.Open(ctx, s)
	if err != nil {
		return err
	}
	if err := m.tally.Add(ctx, t); err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	want, err := matrix.ReadFile(filepath.Join(j.dir, "want.arrow"))
	if err != nil {
		return err
	}
	if err := compare(ctx, t, want, j.cell.Name, scan.Options{}); err != nil {
		return err
	}
	bytes := filepath.Join(j.dir, "bytes.arrow")
	if _, err := os.Stat(bytes); err != nil {
		return nil
	}
	if want, err = matrix.ReadFile(bytes); err != nil {
		return err
	}
	err = compare(ctx, t, want, j.cell.Name, scan.Options{BlobBytes: true, Bases: local})
	if strings.Contains(j.cell.Name, "blob2/stray") {
		// Whoever writes a table must not choose what its readers open.
		if !errors.Is(err, table.ErrRefused) {
			return fmt.Errorf("blobs outside of the table's bases: %v, want a refusal", err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("bytes of blobs: %w", err)
	}
	return nil
}

// local opens another base, which is a directory.
func local(b *pb.BasePath) (objects.Store, error) {
	return dirstore.New(strings.TrimPrefix(b.GetPath(), "file://"), dirstore.Options{NoSync: true})
}

func compare(ctx context.Context, t *table.Table, want *matrix.Want, name string, o scan.Options) error {
	if err := matrix.Full(ctx, t, want, o); err != nil {
		return fmt.Errorf("full scan: %w", err)
	}
	n := ranges
	if want.Rows < 2 { // which has hardly any ranges
		n = 5
	}
	return matrix.Ranges(ctx, t, want, n, seed(name), o)
}

// report prints what was done, and fails when an encoding was not met.
func (m *run) report(asked int, whole bool) {
	m.t.Logf("%d tables asked for, %d read, %d of them wrongly, %d pages", asked, m.read, m.wrong, m.tally.Pages)
	if whole && m.read < least {
		m.t.Errorf("%d tables were read, want at least %d", m.read, least)
	}
	var lines []string
	for k, n := range m.kinds {
		lines = append(lines, fmt.Sprintf("%5d %s", n, k))
	}
	slices.Sort(lines)
	m.t.Logf("what Lance could not do:\n%s", strings.Join(lines, "\n"))
	m.t.Logf("pages with:\n%s", &m.tally)
	if whole { // a sample need not meet them all
		requires(m.t, &m.tally)
	}
}
