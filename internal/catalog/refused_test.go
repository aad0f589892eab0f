package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/s3_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"
)

// TestRefused: each reason by itself, beside a table that is none of its business.
func TestRefused(t *testing.T) {
	const at = "lab/ml/vectors"
	content := func(e *filer_pb.Entry, algorithm string) {
		b, err := proto.Marshal(&s3_pb.BucketMetadata{Encryption: &s3_pb.EncryptionConfiguration{SseAlgorithm: algorithm}})
		if err != nil {
			t.Fatal(err)
		}
		e.Content = b
	}
	location := func(l string) func(*fakeFiler) {
		return func(f *fakeFiler) { f.table(at, "LANCE", l) }
	}
	for name, c := range map[string]struct {
		make func(f *fakeFiler)
		want string
		// also is refused with it.
		also string
	}{
		"bad record": {func(f *fakeFiler) {
			f.entries["/buckets/"+at].Extended[s3tables.ExtendedKeyMetadata] = []byte(`{"format":`)
		}, "record can't be read", ""},
		"being deleted": {func(f *fakeFiler) {
			f.entries["/buckets/"+at].Extended[s3tables.ExtendedKeyDeleting] = []byte("delete")
		}, "delete", ""},
		"being renamed": {func(f *fakeFiler) {
			f.entries["/buckets/"+at].Extended[s3tables.ExtendedKeyDeleting] = []byte("rename")
		}, "rename", ""},
		"being moved":        {func(f *fakeFiler) { f.entries["/buckets/"+at].Extended[s3tables.ExtendedKeyMoving] = []byte(`{}`) }, "moved", ""},
		"another bucket":     {location("s3://other/ml/vectors"), "outside bucket lab", ""},
		"not S3":             {location("file:///etc"), "outside bucket lab", ""},
		"the bucket itself":  {location("s3://lab"), "outside bucket lab", ""},
		"the bucket, slash":  {location("s3://lab/"), "not a plain path", ""},
		"up and out":         {location("s3://lab/../other/ml/vectors"), "not a plain path", ""},
		"up and back":        {location("s3://lab/ml/x/../vectors"), "not a plain path", ""},
		"a dot":              {location("s3://lab/./ml/vectors"), "not a plain path", ""},
		"nothing between":    {location("s3://lab/ml//vectors"), "not a plain path", ""},
		"a backslash":        {location(`s3://lab/ml\vectors`), "not a plain path", ""},
		"cut by the catalog": {func(f *fakeFiler) { location("s3://lab/ml/x/metadata/y")(f); f.written("lab/ml/x/metadata/y") }, "to the catalog", ""},
		"same place as a Lance table": {func(f *fakeFiler) { f.table("lab/ml/other", "LANCE", "s3://"+at) }, "same place",
			"lab/ml/other"},
		"above another":       {func(f *fakeFiler) { f.table("lab/ml/other", "LANCE", "s3://"+at+"/data"); f.written(at + "/data") }, "same place", "lab/ml/other"},
		"below another":       {func(f *fakeFiler) { f.table("lab/xx/other", "LANCE", "s3://lab/ml") }, "same place", "*"},
		"shared with Iceberg": {func(f *fakeFiler) { f.table("lab/xx/ice", "ICEBERG", "s3://"+at+"/metadata/v1.json") }, "same place", ""},
		"shared with a view": {func(f *fakeFiler) {
			f.table("lab/xx/view", "ICEBERG", "s3://"+at+"/metadata/v1.json").Extended[s3tables.ExtendedKeyEntryType] = []byte("view")
		}, "same place", ""},
		"where another moves to": {func(f *fakeFiler) {
			f.table("lab/xx/ice", "ICEBERG", "").Extended[s3tables.ExtendedKeyMoving] = []byte(`{"metadataLocation":"s3://` + at + `/metadata/v2.json"}`)
		}, "same place", ""},
		"bucket declares SSE": {func(f *fakeFiler) {
			f.bucket("lab", `{"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":"aws:kms"}}`)
		}, "bucket lab encrypts with SSE-KMS", "*"},
		"bucket's S3 default": {func(f *fakeFiler) { content(f.bucket("lab", "LANCE"), "aws:kms") }, "bucket lab encrypts with SSE-KMS", "*"},
		"bad bucket record":   {func(f *fakeFiler) { f.bucket("lab", `{"format":"LANCE"`) }, "record of bucket lab can't be read", "*"},
		"bad bucket settings": {func(f *fakeFiler) { f.bucket("lab", "LANCE").Content = []byte{0xff} }, "settings of bucket lab", "*"},
		"versions in a bucket": {func(f *fakeFiler) {
			f.bucket("lab", "LANCE").Extended[s3_constants.ExtVersioningKey] = []byte("Enabled")
		}, "S3 versions", "*"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.bucket("lab", "LANCE")
			f.lance(at)
			f.lance("lab/ml/zz")
			c.make(f)
			got := f.sweep()
			reasons := map[string]string{}
			for _, line := range got {
				table, rest, _ := strings.Cut(line, ": ")
				reasons[strings.TrimSuffix(strings.Split(table, " -> ")[0], " ")] = rest
			}
			if !strings.Contains(reasons[at], c.want) {
				t.Errorf("reason %q, want one with %q; found %q", reasons[at], c.want, got)
			}
			if c.also != "" && c.also != "*" && reasons[c.also] == "" {
				t.Errorf("%s is not refused; found %q", c.also, got)
			}
			if zz := reasons["lab/ml/zz"]; (zz != "") != (c.also == "*") {
				t.Errorf("the table beside it: %q", zz)
			}
			found, err := New(f).Find(t.Context(), []string{"lab", "ml", "vectors"})
			if err != nil || found.Refused != reasons[at] {
				t.Errorf("Find: %+v, %v; Each says %q", found, err, reasons[at])
			}
		})
	}
}

// TestEncrypted: a bucket under SSE-S3 is told from others, and its tables are
// not refused.
func TestEncrypted(t *testing.T) {
	declared := `{"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":"AES256"}}`
	byDefault, err := proto.Marshal(&s3_pb.BucketMetadata{Encryption: &s3_pb.EncryptionConfiguration{SseAlgorithm: "AES256"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		make func(f *fakeFiler)
		want bool
	}{
		"plain":      {func(f *fakeFiler) { f.bucket("lab", "LANCE") }, false},
		"declared":   {func(f *fakeFiler) { f.bucket("lab", declared) }, true},
		"by default": {func(f *fakeFiler) { f.bucket("lab", "LANCE").Content = byDefault }, true},
	} {
		f := newFake(t)
		c.make(f)
		f.lance("lab/ml/vectors")
		found, err := New(f).Find(t.Context(), []string{"lab", "ml", "vectors"})
		if err != nil || found.Refused != "" || found.Encrypted != c.want {
			t.Errorf("%s: found %+v, %v", name, found, err)
		}
		n := 0
		err = New(f).Each(t.Context(), func(each Table) error {
			n++
			if each.Refused != "" || each.Encrypted != c.want {
				t.Errorf("%s: swept %+v", name, each)
			}
			return nil
		})
		if err != nil || n != 1 {
			t.Errorf("%s: %d tables, %v", name, n, err)
		}
	}
}

// TestRefusedAndOut: what is not to be seen is not complained about either.
func TestRefusedAndOut(t *testing.T) {
	f := newFake(t)
	f.bucket("lab", `{"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":"aws:kms"}}`)
	f.table("lab/ml/unwritten", "LANCE", "")
	f.lance("lab/ml/deregistered")
	f.file("/buckets/lab/ml/deregistered/.lance-deregistered")
	if got := f.sweep(); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	if _, err := New(f).Find(t.Context(), []string{"lab", "ml", "deregistered"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// TestRenamedAway: a new table under a renamed one's old name keeps its files
// elsewhere, so neither is in the other's way.
func TestRenamedAway(t *testing.T) {
	f := newFake(t)
	f.bucket("lab", "LANCE")
	f.table("lab/ml/renamed", "LANCE", "s3://lab/ml/vectors")
	f.table("lab/ml/vectors", "LANCE", "s3://lab/ml/vectors-2")
	f.written("lab/ml/vectors")
	f.written("lab/ml/vectors-2")
	want := []string{"lab/ml/renamed -> /buckets/lab/ml/vectors", "lab/ml/vectors -> /buckets/lab/ml/vectors-2"}
	if got := f.sweep(); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	// A name that another's begins with is no directory above it.
	f.lance("lab/ml/vec")
	if got := f.sweep(); len(got) != 3 || slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, ":") }) {
		t.Errorf("found %q", got)
	}
}

// TestNamespaceMetadata: a namespace that is called like Iceberg's directory.
func TestNamespaceMetadata(t *testing.T) {
	f := newFake(t)
	f.bucket("lab", "LANCE")
	f.lance("lab/metadata/vectors")
	if got := f.sweep(); !slices.Equal(got, []string{"lab/metadata/vectors -> /buckets/lab/metadata/vectors"}) {
		t.Errorf("found %q", got)
	}
}

// TestOverlapsAreSymmetric compares with the pairwise definition.
func TestOverlapsAreSymmetric(t *testing.T) {
	roots := [][]string{
		{"/b/l/a"}, {"/b/l/a"}, {"/b/l/a/x"}, {"/b/l/ab"}, {"/b/l/c", "/b/l/d"}, {"/b/l/d/e/f"}, {"/b/l/d/e"}, {"/b/l/g", "/b/l/g/h"}, {"/b/l/i"}, {"/b/l/ab/y", "/b/l/z"},
	}
	var records []record
	for _, r := range roots {
		records = append(records, record{roots: r})
	}
	got := overlaps(records)
	for i := range roots {
		want := false
		for j := range roots {
			for _, a := range roots[i] {
				for _, b := range roots[j] {
					want = want || i != j && s3tables.PathsOverlap(a, b)
				}
			}
		}
		if (got[i] >= 0) != want || got[i] == i {
			t.Errorf("%q: overlaps %d, want %v", roots[i], got[i], want)
		}
	}
}
