// Package column is the contract between the readers of a file's columns and
// those who use them: what a field is, how bytes are asked for, how much memory an
// answer may take.
package column

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
)

var (
	// ErrCorrupt is wrapped by every error about bytes that contradict each other or the format.
	ErrCorrupt = datafile.ErrCorrupt
	// ErrUnsupported is wrapped by every error about an encoding or type that is not understood.
	ErrUnsupported = errors.New("encoding not supported")
	// ErrLimit is wrapped by the error of a read whose result would need more than the
	// bytes allowed; nothing of that size was allocated. Fewer rows may fit.
	ErrLimit = errors.New("more than the memory allowed for one batch")
)

// Absent is the column of a leaf that the file does not hold: all its values are null.
const Absent = -1

// Field is a field of a file's schema, with its children, and the columns that
// hold it. Which nodes have a column depends on the file's version: from 2.1 on
// the leaves (a packed struct and a blob count as one), in 2.0 every node.
type Field struct {
	// Name and Type as in Arrow; the type is that of the whole subtree as it is to
	// be read: a projection has fewer children in both. A blob's is that of its
	// descriptors.
	Name     string
	Type     arrow.DataType
	Nullable bool
	// Column is the number of the file's column, or Absent.
	Column int
	// Packed: a struct whose fields share one column.
	Packed bool
	// Blob: a column of descriptors (v1 or v2) in place of the bytes themselves.
	Blob bool
	// Children of a struct, list, map or fixed-size list of structs: a list has
	// one, a map the struct of its entries. A fixed-size list of primitives and a packed
	// struct are leaves.
	Children []Field
	// Metadata of the field; only writers look at it.
	Metadata arrow.Metadata
}

// Source hands out bytes of the file.
type Source interface {
	// Fetch returns the bytes of the spans, in their order. They must not be changed,
	// and stay valid as long as they are referenced. Spans that lie close together
	// may be one request to the store.
	Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error)
}

// Reader reads one top-level field of a file. It may be used from many goroutines at once.
type Reader interface {
	// Rows of the file.
	Rows() uint64
	// Need lists, as far as it is known without reading, the spans that a Read of rows [from, to)
	// fetches, for reading ahead. It may name more than that, and may
	// be incomplete where one read decides what the next one is.
	Need(from, to uint64) []datafile.Span
	// Read returns rows [from, to) as an array of the field's type. limit is the most
	// bytes that the array's buffers may take; the working memory beside them is at most
	// twice that. ErrLimit when it does not fit. Errors name column, page and encoding.
	Read(ctx context.Context, src Source, from, to uint64, limit int64) (arrow.Array, error)
	// Pages describes the pages of the field's columns, for people and tests.
	Pages() []PageInfo
}

// PageInfo describes one page.
type PageInfo struct {
	Column int
	// Path names the leaf: "a.items.b".
	Path string
	Page int
	// Rows of the table, or items of a list in 2.0.
	Rows uint64
	// Bytes of the page's buffers.
	Bytes uint64
	// Layout is the structural kind: "mini-block", "full-zip", "constant", "blob"; of 2.0 pages "array".
	Layout string
	// Encoding is the tree of encodings, as in "general(zstd, variable(flat(32)))";
	// level compressions and dictionaries are part of it.
	Encoding string
}
