package e2e

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// TestManyTables: tables that were copied on the filer are what tables are that were made as
// anybody makes them.
func TestManyTables(t *testing.T) {
	t.Parallel()
	l := startLake(t, 24, cluster.Options{WaitForJobs: []string{}})
	filers := l.filers(t)
	for i, k := range l.kinds[:4] {
		made, copied := l.names[i], l.names[i+len(l.kinds)]
		a, err := l.Names(t.Context(), made)
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Names(t.Context(), copied)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a, b) || len(a) <= len(k.Files) {
			t.Errorf("%s: entries %q, copied %q", k.Name, a, b)
		}
		for name, content := range k.Files {
			was, err := l.S3().Get(t.Context(), sweptBucket+"/"+sweptNamespace+"/"+made+"/"+name)
			if err != nil {
				t.Fatal(err)
			}
			is, err := l.S3().Get(t.Context(), sweptBucket+"/"+sweptNamespace+"/"+copied+"/"+name)
			if err != nil {
				t.Fatal(err)
			}
			if string(is.Body) != string(content) || is.Header.Get("ETag") != was.Header.Get("ETag") {
				t.Errorf("%s of %s: %d bytes with ETag %s, want %d with %s", name, k.Name, len(is.Body), is.Header.Get("ETag"), len(content), was.Header.Get("ETag"))
			}
		}
		if a, b := l.record(t, made), l.record(t, copied); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: record %v, copied %v", k.Name, a, b)
		}
	}
	var found []string
	err := catalog.New(filers).Each(t.Context(), func(table catalog.Table) error {
		found = append(found, table.Name)
		if table.Refused != "" || table.Dir != l.Dir(table.Name) {
			t.Errorf("%+v", table)
		}
		return nil
	})
	if err != nil || !slices.Equal(found, l.names) {
		t.Errorf("the catalog has %q, want %q (%v)", found, l.names, err)
	}
}

// record is what S3 Tables keeps of a table, less what no two tables have in common.
func (l *lake) record(t *testing.T, name string) map[string]any {
	t.Helper()
	e, err := l.filers(t).LookupEntry(t.Context(), "/buckets/"+sweptBucket+"/"+sweptNamespace, name)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]any)
	if err := json.Unmarshal(e.GetExtended()[s3tables.ExtendedKeyMetadata], &out); err != nil {
		t.Fatal(err)
	}
	if out["name"] != name || out["metadataLocation"] != "s3://"+sweptBucket+"/"+sweptNamespace+"/"+name {
		t.Errorf("the record of %s is %v", name, out)
	}
	for _, own := range []string{"name", "metadataLocation", "createdAt", "modifiedAt", "versionToken"} {
		if out[own] == "" {
			t.Errorf("the record of %s has no %s", name, own)
		}
		delete(out, own)
	}
	for key, v := range e.GetExtended() {
		if key != s3tables.ExtendedKeyMetadata {
			out["attribute "+key] = string(v)
		}
	}
	out["directory"], out["mode"] = e.GetIsDirectory(), e.GetAttributes().GetFileMode()
	return out
}
