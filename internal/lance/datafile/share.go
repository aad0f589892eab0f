package datafile

import (
	"unsafe"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pbsize"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// With is the same file, read through another reader of the same object. The two share
// their metadata, which nobody changes; a File that is only kept for its metadata has
// no reader.
func (f *File) With(r objects.Reader) *File {
	g := *f
	g.Reader = r
	return &g
}

// MemorySize is about what the metadata takes in memory.
func (f *File) MemorySize() int64 {
	n := int64(unsafe.Sizeof(*f)) + int64(len(f.GlobalBuffers))*int64(unsafe.Sizeof(Span{}))
	n += pbsize.Of(f.Descriptor)
	for _, c := range f.Columns {
		n += int64(unsafe.Sizeof(c)) + pbsize.Of(c)
	}
	return n
}
