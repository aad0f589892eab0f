package table

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// A version that was split and joined is the one it was, and encodes to the same bytes.
func TestSplitAndJoin(t *testing.T) {
	with := 0
	for _, m := range manifests(t) {
		was, err := Decode(nil, m.ref, m.n, m.b)
		if err != nil {
			t.Fatal(err)
		}
		whole := proto.Clone(was.Manifest())
		rest, indices := was.Split()
		if rest.Store() != nil || len(rest.Indices()) != 0 {
			t.Errorf("%s: what is left has a store or indices", m.name)
		}
		if rest.HasIndices() != (indices != nil) {
			t.Errorf("%s: has indices %v, and the section %v", m.name, rest.HasIndices(), indices != nil)
		}
		if n := rest.MemorySize(); n < int64(proto.Size(was.Manifest())) {
			t.Errorf("%s: %d bytes in memory, fewer than encoded", m.name, n)
		}
		if indices != nil {
			with++
			if n := indices.MemorySize(); n < int64(len(was.file.indexSection)) {
				t.Errorf("%s: indices of %d bytes in memory", m.name, n)
			}
		}
		s := objects.Sub(nil, "x")
		got := rest.Join(s, indices)
		if got.Store() != s || rest.Store() != nil {
			t.Errorf("%s: store %v, and %v in the part", m.name, got.Store(), rest.Store())
		}
		if got.Ref() != was.Ref() || got.Naming() != was.Naming() || got.FileVersion() != was.FileVersion() {
			t.Errorf("%s: became %v, was %v", m.name, got.Ref(), was.Ref())
		}
		if len(got.Indices()) != len(was.Indices()) || !bytes.Equal(got.file.indexSection, was.file.indexSection) || !bytes.Equal(got.file.transaction, was.file.transaction) {
			t.Errorf("%s: %d indices and other sections, had %d", m.name, len(got.Indices()), len(was.Indices()))
		}
		if !proto.Equal(got.Manifest(), whole) {
			t.Errorf("%s: another manifest", m.name)
		}
		for i := range m.b {
			m.b[i] = 0 // the parts don't need what was read
		}
		if len(got.file.transaction) > 0 && bytes.Count(got.file.transaction, []byte{0}) == len(got.file.transaction) {
			t.Errorf("%s: the transaction went with the bytes that were read", m.name)
		}
	}
	if with == 0 {
		t.Error("no table of testdata has indices")
	}
}
