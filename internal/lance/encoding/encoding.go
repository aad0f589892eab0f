// Package encoding opens the columns of data files, and writes data files of record batches: which
// encodings a file's version has is decided here.
package encoding

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/layout"
)

// Open makes the reader of a top-level field of a file, which must stay open as long as
// the reader is used. column.ErrUnsupported when the file's version is none of 2.0, 2.1 and 2.2.
func Open(f *datafile.File, field column.Field) (column.Reader, error) {
	switch v := [2]uint32{f.Major, f.Minor}; v {
	case [2]uint32{0, 3}, [2]uint32{2, 0}:
		return array.Open(f, field)
	case [2]uint32{2, 1}, [2]uint32{2, 2}:
		return layout.Open(f, field)
	default:
		return nil, fmt.Errorf("%w: data file version %d.%d", column.ErrUnsupported, f.Major, f.Minor)
	}
}
