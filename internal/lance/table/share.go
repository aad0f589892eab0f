package table

import (
	"bytes"
	"unsafe"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pbsize"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Indices is the index section of a version, as caches keep it.
type Indices struct {
	section []byte
	entries []*pb.IndexMetadata
}

// Split takes a version apart into what caches keep for themselves: the version without
// its index section and without a store, and that section, nil when there is none. Neither
// holds on to the bytes that were read.
func (t *Table) Split() (*Table, *Indices) {
	rest := *t
	rest.store, rest.indices = nil, nil
	rest.file = &manifestFile{manifest: t.file.manifest, transaction: bytes.Clone(t.file.transaction)}
	if t.file.indexSection == nil {
		return &rest, nil
	}
	return &rest, &Indices{section: bytes.Clone(t.file.indexSection), entries: t.indices}
}

// HasIndices tells whether a version has an index section, also when Split has taken
// it away.
func (t *Table) HasIndices() bool { return t.file.manifest.IndexSection != nil }

// Join is the reverse of Split, in the store where the table is read now. The parts stay as
// they are.
func (t *Table) Join(s objects.Store, i *Indices) *Table {
	whole := *t
	whole.store = s
	if i != nil {
		whole.file = &manifestFile{manifest: t.file.manifest, indexSection: i.section, transaction: t.file.transaction}
		whole.indices = i.entries
	}
	return &whole
}

// MemorySize is about what the parts of Split take in memory.
func (t *Table) MemorySize() int64 {
	return int64(unsafe.Sizeof(*t)) + int64(unsafe.Sizeof(*t.file)) + int64(len(t.ref.Name)+len(t.ref.Token)) +
		int64(len(t.file.transaction)) + pbsize.Of(t.file.manifest)
}

// MemorySize is about what the section takes in memory.
func (i *Indices) MemorySize() int64 {
	n := int64(unsafe.Sizeof(*i)) + int64(len(i.section))
	for _, e := range i.entries {
		n += int64(unsafe.Sizeof(e)) + pbsize.Of(e)
	}
	return n
}
