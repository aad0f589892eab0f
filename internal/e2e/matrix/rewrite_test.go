package matrix_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// readFiles has Lance read lone files, column by column: it does not read a fixed-size list of structs, of which it counts the
// items, with another column. It answers with what became of each file.
const readFiles = `
import os, lance.file, pyarrow as pa
result = []
for path in paths:
    try:
        names = lance.file.LanceFileReader(path).metadata().schema.names
        for i, name in enumerate(names):
            t = lance.file.LanceFileReader(path, columns=[name]).read_all(batch_size=1000).to_table()
            with pa.OSFile("%s.%d.arrow" % (path, i), "wb") as f, pa.ipc.new_stream(f, t.schema) as w:
                w.write_table(t)
        result.append("")
    except BaseException as e:
        result.append("%s: %s" % (type(e).__name__, e))
`

// readTables has the newest Lance put files into copies of the tables that their rows come from, in place of all that
// is there, and read these; others read what it made.
const readTables = `
import json, os, shutil
result = []
for x in tables:
    dst, src = x["dst"], x["src"]
    try:
        if x["commit"]:
            shutil.rmtree(dst, ignore_errors=True)
            shutil.copytree(src, dst)
            ds = lance.dataset(dst)
            old = [f.metadata for f in ds.get_fragments()]
            if old:
                name = os.path.basename(x["file"])
                shutil.copy(x["file"], os.path.join(dst, "data", name))
                new = dict(json.loads(json.dumps(old[0].to_json())), deletion_file=None, physical_rows=x["rows"], row_id_meta=None)
                new["files"] = [{"path": name, "fields": x["fields"], "column_indices": list(range(len(x["fields"]))),
                                 "file_major_version": 2, "file_minor_version": x["minor"], "file_size_bytes": None, "base_id": None}]
                new = lance.fragment.FragmentMetadata.from_json(json.dumps(new))
                group = lance.LanceOperation.RewriteGroup(old_fragments=old, new_fragments=[new])
                op = lance.LanceOperation.Rewrite(groups=[group], rewritten_indices=[])
                lance.LanceDataset.commit(dst, op, read_version=ds.version)
        ds = lance.dataset(dst)
        if x["commit"]:
            ds.validate()
        for i, f in enumerate(ds.schema):
            t = ds.to_table(columns=[f.name])
            with pa.OSFile("%s.%d.arrow" % (x["file"], i), "wb") as f, pa.ipc.new_stream(f, t.schema) as w:
                w.write_table(t)
        result.append("")
    except BaseException as e:
        result.append("%s: %s" % (type(e).__name__, e))
`

// rewritten is a table's rows as a file of ours.
type rewritten struct {
	fixture
	version table.FileVersion
	path    string
	fields  []int32
	rows    int64
	// same: of the version that the table is of.
	same bool
}

// rewrites are tables whose rows are written anew.
type rewrites struct {
	dir          string
	lone, tables []rewritten
}

// add writes a table's rows as a file of each version.
func (w *rewrites) add(t *testing.T, f fixture) {
	t.Helper()
	for _, v := range []table.FileVersion{table.V2_0, table.V2_1, table.V2_2} {
		x := rewritten{fixture: f, version: v, path: filepath.Join(w.dir, fmt.Sprintf("%s_%s.lance", filepath.Base(f.dir), v))}
		switch err := x.write(t); {
		case errors.Is(err, errNotOne), errors.Is(err, column.ErrUnsupported) && beyond(f.name, v):
		case err != nil:
			t.Errorf("%s as %s: %v", f.name, v, err)
		case x.same:
			w.tables = append(w.tables, x)
		default:
			w.lone = append(w.lone, x)
		}
	}
}

var (
	// beyond20 is what 2.0 has no place for, some nulls among it; inList what no version reads unless there is none.
	beyond20 = regexp.MustCompile(`map\(|fsl\(|struct\(|packed|null/|dict_|vv_|v_`)
	inList   = regexp.MustCompile(`(list|large|map)\(fsl\(`)
)

// beyond tells whether a version has no place for some of what may be in a table.
func beyond(name string, v table.FileVersion) bool {
	switch v {
	case table.V2_0:
		return beyond20.MatchString(name)
	case table.V2_1:
		return strings.HasPrefix(name, "packed") || inList.MatchString(name)
	}
	return inList.MatchString(name)
}

// reads are the files that a release is asked for.
func reads(all []rewritten, release oracle.Release) (out []rewritten) {
	for _, x := range all {
		old := release == oracle.V4 || release == oracle.V0
		switch {
		case old && x.version == table.V2_2, release == oracle.V0 && x.version == table.V2_1:
			continue // which it does not know
		case old && x.version == table.V2_0 && strings.HasPrefix(x.name, "packed") && !x.same:
			continue // which it does not find in a lone file
		}
		out = append(out, x)
	}
	return out
}

// judged has a release read all files. It returns how many it was asked for, and how many of these it can't read
// whoever writes them.
func (w *rewrites) judged(t *testing.T, lance *oracle.Lance, release oracle.Release) (asked, unable int) {
	t.Helper()
	run := func(code, name string, arg any) (became []string) {
		lance.Do(t, "run", oracle.Args{"code": code, name: arg}, &became)
		return became
	}
	settle := func(x rewritten, reason string, own func() string) {
		asked++
		if reason == "" {
			if err := x.compare(); err != nil {
				t.Errorf("%s as %s: pylance %s reads: %v", x.name, x.version, release, err)
			}
		} else if r := own(); r == "" || release == oracle.Newest && !strings.Contains(r, "Not yet supported FSL<...List<...>>") {
			t.Errorf("%s as %s: pylance %s: %s", x.name, x.version, release, reason)
		} else {
			unable++
			t.Logf("%s: pylance %s does not read what Lance wrote of it, either: %s", x.name, release, r)
		}
	}
	lone, tables := reads(w.lone, release), reads(w.tables, release)
	paths := []string{}
	for _, x := range lone {
		paths = append(paths, x.path)
	}
	for i, reason := range run(readFiles, "paths", paths) {
		settle(lone[i], reason, func() string { return run(readFiles, "paths", []string{copyOf(t, lone[i].fixture, w.dir)})[0] })
	}
	args := []oracle.Args{}
	for _, x := range tables {
		src, err := filepath.Abs(filepath.Join(x.dir, "t"))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, oracle.Args{"src": src, "dst": x.path + ".table", "file": x.path, "fields": x.fields,
			"rows": x.rows, "minor": x.version.Minor, "commit": release == oracle.Newest})
	}
	for i, reason := range run(readTables, "tables", args) {
		settle(tables[i], reason, func() string {
			a := args[i]
			a["dst"], a["commit"] = a["src"], false
			return run(readTables, "tables", []oracle.Args{a})[0]
		})
	}
	return asked, unable
}

// TestRewrite writes every committed table of the matrix anew, as a file of each version. What this module's own
// reader and Lance read from it is what the table holds: as part of the table where the versions are the same, as a lone file
// otherwise.
func TestRewrite(t *testing.T) {
	w := &rewrites{dir: t.TempDir()}
	for _, f := range committed(t) {
		if strings.Contains(f.name, os.Getenv("SEAWEED_LANCE_CELLS")) {
			w.add(t, f)
		}
	}
	for _, release := range []oracle.Release{oracle.Newest, oracle.V10, oracle.V4, oracle.V0} {
		asked, unable := w.judged(t, oracle.Start(t, release), release)
		t.Logf("pylance %s was asked for %d files; %d of them it can't read whoever writes them", release, asked, unable)
		if unable > asked/8 {
			t.Errorf("pylance %s can't read %d of %d", release, unable, asked)
		}
	}
}

// TestRewriteMatrix is TestRewrite with the whole matrix, of which the newest release alone reads what becomes.
func TestRewriteMatrix(t *testing.T) {
	if !full() && os.Getenv("SEAWEED_LANCE_CELLS") == "" {
		t.Skip("takes long: for full runs, or with SEAWEED_LANCE_CELLS")
	}
	newest := oracle.Start(t, oracle.Newest)
	var all []matrix.Cell
	newest.Do(t, "cells", nil, &all)
	total := 0
	for _, writer := range writers(chosen(t, all)) {
		lance := newest
		if writer.release != oracle.Newest || writer.env != "" {
			lance = oracle.Start(t, writer.release, writer.environment()...)
		}
		for part := range slices.Chunk(writer.cells, 25) {
			dir := t.TempDir()
			var names []string
			for _, c := range part {
				names = append(names, c.Name)
			}
			var written []matrix.Written
			lance.Do(t, "write_cells", oracle.Args{"root": dir, "names": names}, &written)
			w := &rewrites{dir: t.TempDir()}
			for i, x := range written {
				if x.Status == "ok" {
					w.add(t, fixture{filepath.Join(dir, strconv.Itoa(i)), x.Name})
				}
			}
			asked, _ := w.judged(t, newest, oracle.Newest)
			total += asked
			os.RemoveAll(dir)
			os.RemoveAll(w.dir)
		}
	}
	t.Logf("pylance %s was asked for %d files", oracle.Newest, total)
}

// copyOf copies the first data file of a fixture.
func copyOf(t *testing.T, f fixture, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(f.dir, "t", "data", "*.lance"))
	if err != nil || len(all) == 0 {
		t.Fatalf("data files of %s: %v", f.name, err)
	}
	b, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, filepath.Base(f.dir)+"_own.lance")
	if err := os.WriteFile(to, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return to
}
