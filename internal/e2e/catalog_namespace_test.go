package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// TestCatalog: what the Lance namespace and S3 make of tables is what the
// catalog finds, and what it refuses.
func TestCatalog(t *testing.T) {
	t.Parallel()
	c := startCluster(t, cluster.Options{Buckets: []string{"lab", "secret"}, WaitForJobs: []string{}})
	written := func(path ...string) string {
		table := c.makeTable(t, path...)
		if err := c.S3().Put(t.Context(), table+"/_versions/1.manifest", []byte("x")); err != nil {
			t.Fatal(err)
		}
		return table
	}
	written("lab", "ml", "vectors")
	if err := c.Lance().CreateNamespace(t.Context(), "lab", "ml", "deep"); err != nil {
		t.Fatal(err)
	}
	written("lab", "ml", "deep", "er", "faces")
	written("lab", "ml", "before")
	if err := c.Lance().RenameTable(t.Context(), []string{"lab", "ml", "before"}, []string{"lab", "ml", "after"}); err != nil {
		t.Fatal(err)
	}
	c.makeTable(t, "lab", "ml", "declared")
	written("lab", "ml", "forgotten")
	if err := c.Lance().DeregisterTable(t.Context(), "lab", "ml", "forgotten"); err != nil {
		t.Fatal(err)
	}
	written("lab", "ml", "dropped")
	if err := c.Lance().DropTable(t.Context(), "lab", "ml", "dropped"); err != nil {
		t.Fatal(err)
	}
	written("secret", "ml", "vectors")
	c.encryptBucket(t, "secret", "aws:kms")
	if _, err := c.S3().Do(t.Context(), http.MethodPut, "ordinary", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.S3().Put(t.Context(), "ordinary/ml/vectors/_versions/1.manifest", []byte("x")); err != nil {
		t.Fatal(err)
	}

	found := catalog.New(c.filers(t))
	var got []string
	err := found.Each(t.Context(), func(table catalog.Table) error {
		line := table.String() + " " + table.Dir
		if table.Refused != "" {
			line = table.String() + ": " + table.Refused
		}
		got = append(got, line)
		again, err := found.Find(t.Context(), table.ID)
		if err != nil || again.Dir != table.Dir || again.Refused != table.Refused {
			t.Errorf("Each yields %+v, Find %+v, %v", table, again, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"lab/ml/after /buckets/lab/ml/before",
		"lab/ml/vectors /buckets/lab/ml/vectors",
		"lab/ml.deep.er/faces /buckets/lab/ml.deep.er/faces",
		"secret/ml/vectors: bucket secret encrypts with SSE-KMS",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if table, err := found.Find(t.Context(), []string{"lab", "ml", "declared"}); err != nil || table.Dir != "/buckets/lab/ml/declared" {
		t.Errorf("declared: %+v, %v", table, err)
	}
	for _, name := range []string{"forgotten", "dropped", "before", "never"} {
		if table, err := found.Find(t.Context(), []string{"lab", "ml", name}); !errors.Is(err, catalog.ErrNotFound) {
			t.Errorf("%s: %+v, %v", name, table, err)
		}
	}
}
