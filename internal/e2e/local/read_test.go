package local_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// rowsOf are the options under which a scan gives what "dump" does.
func rowsOf(lineage bool) scan.Options {
	return scan.Options{RowAddress: true, RowID: true, CreatedAt: lineage, UpdatedAt: lineage, Bases: local}
}

// local opens another base, which is a directory.
func local(b *pb.BasePath) (objects.Store, error) {
	return dirstore.New(b.GetPath(), dirstore.Options{NoSync: true})
}

// readLike asserts that a version reads as Lance read it to the file, in ranges of rows too.
func readLike(ctx context.Context, t *table.Table, file string, ranges int, o scan.Options) error {
	want, err := matrix.ReadFile(file)
	if err != nil {
		return err
	}
	if err := matrix.Full(ctx, t, want, o); err != nil {
		return err
	}
	return matrix.Ranges(ctx, t, want, ranges, uint64(want.Rows), o)
}

// releases that write, with the file versions that each can.
func releases() map[oracle.Release][]string {
	all := map[oracle.Release][]string{
		oracle.Newest: {"2.0", "2.1", "2.2"}, oracle.V10: {"2.0", "2.1", "2.2"}, oracle.V7: {"2.0", "2.1", "2.2"},
		oracle.V4: {"2.0", "2.1"}, oracle.V1: {"2.0", "2.1"}, oracle.V0: {"2.0", "2.1"},
	}
	if full() {
		return all
	}
	for r, files := range all {
		all[r] = files[:1+len(files)/3]
	}
	return all
}

// TestReadRecipes reads every kind of table as the release that wrote it does.
func TestReadRecipes(t *testing.T) {
	for release, files := range releases() {
		t.Run(string(release), func(t *testing.T) {
			lance := oracle.Start(t, release)
			read := 0
			for _, r := range lance.Recipes(t) {
				if r.Refused || r.Since > release.Major() {
					continue
				}
				for _, file := range append(files, "") {
					read += readRecipe(t, lance, r, file)
				}
			}
			t.Logf("%d tables", read)
			if read < 10 {
				t.Errorf("only %d tables were read", read)
			}
		})
	}
}

func readRecipe(t *testing.T, lance *oracle.Lance, r oracle.Recipe, file string) (read int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "t")
	stable := r.Stable != nil && *r.Stable
	a := oracle.Args{"recipe": r.Name, "uri": dir, "stable": stable}
	if file != "" {
		a["version"] = file
	}
	where := fmt.Sprintf("%s in %q", r.Name, file)
	if err := lance.Try("make", a, nil); err != nil {
		t.Logf("%s: not made: %v", where, err)
		return 0
	}
	stream := filepath.Join(t.TempDir(), "want.arrow")
	// Lineage came with release 4.
	lineage := stable && lance.Release().Major() >= 10
	var reason string
	lance.Do(t, "dump", oracle.Args{"uri": dir, "path": stream, "lineage": lineage}, &reason)
	if r.Name == "full_dictionary" && lance.Release().Major() < 14 {
		// In 2.0 these releases widen the keys, and then read them as if they had not; later ones refuse the
		// page. What was written is what the newest release writes and reads in 2.1.
		asWritten(t, r.Name, stream)
	}
	if reason != "" {
		t.Logf("%s: Lance can't read it: %s", where, reason)
		return 0
	}
	tbl, err := table.Open(t.Context(), store(t, dir))
	if err == nil {
		err = readLike(t.Context(), tbl, stream, 20, rowsOf(lineage))
	}
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
	return 1
}

// asWritten has the newest release make a recipe and dump it.
func asWritten(t *testing.T, recipe, stream string) {
	t.Helper()
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	lance.Make(t, recipe, dir, oracle.Table{FileVersion: "2.1"})
	lance.Do(t, "dump", oracle.Args{"uri": dir, "path": stream}, nil)
}

// TestReadNode reads what lancedb for Node wrote.
func TestReadNode(t *testing.T) {
	dir := t.TempDir()
	stream := filepath.Join(dir, "want.arrow")
	oracle.Node(t, dir, stream)
	tbl, err := table.Open(t.Context(), store(t, filepath.Join(dir, "t.lance")))
	if err != nil {
		t.Fatal(err)
	}
	if err := readLike(t.Context(), tbl, stream, 200, scan.Options{}); err != nil {
		t.Error(err)
	}
}

// TestReadRandom reads every version of tables with random schemas and histories.
func TestReadRandom(t *testing.T) {
	const tables, steps = 30, 14
	seeds := []int{138} // a map that tells where the struct around it is null
	for seed := range tables {
		seeds = append(seeds, seed)
	}
	lance := oracle.Start(t, oracle.Newest)
	refused, unread, versions := 0, 0, 0
	for _, seed := range seeds {
		file := []string{"2.2", "2.1", "2.2", "2.0", "2.1", "2.2"}[seed%6]
		stable := seed%2 == 0
		t.Run(fmt.Sprintf("%d,files=%s,stable=%v", seed, file, stable), func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "t")
			var made struct{ Done, Refused []string }
			lance.Do(t, "random_table", oracle.Args{"uri": dir, "seed": seed, "version": file, "stable": stable, "steps": steps}, &made)
			refused += len(made.Refused)
			var all []struct {
				Version uint64
				Reason  string
			}
			lance.Do(t, "dump_all", oracle.Args{"uri": dir, "root": root, "lineage": stable}, &all)
			s := store(t, dir)
			newest, err := table.Open(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range all {
				if v.Reason != "" {
					t.Logf("version %d: Lance can't read it: %s", v.Version, v.Reason)
					unread++
					continue
				}
				versions++
				tbl, err := table.OpenVersion(t.Context(), s, newest.Naming(), v.Version)
				if err == nil {
					err = readLike(t.Context(), tbl, filepath.Join(root, strconv.FormatUint(v.Version, 10)+".arrow"), 30, rowsOf(stable))
				}
				if err != nil {
					t.Errorf("version %d after %v: %v", v.Version, made.Done, err)
				}
			}
		})
	}
	t.Logf("%d versions; Lance refused %d of %d steps and can't read %d versions", versions, refused, len(seeds)*steps, unread)
	if versions < len(seeds)*steps/2 {
		t.Errorf("only %d versions were compared", versions)
	}
}
