// Package layout reads the columns of 2.1 and 2.2 files: pages of the mini-block,
// full-zip, constant and blob layouts become Arrow arrays.
//
// A file of these versions has a column for each leaf of its schema; structs, lists and
// maps exist only as levels beside the values of the leaves below them. So a field is
// read leaf by leaf: each leaf's pages give levels, which package level turns into
// validity and offsets, and values, which package block decompresses. The result
// per leaf is an array of the field's shape with that one leaf, and Merge puts the
// leaves together again.
//
// A read asks for bytes at most three times, each time for all leaves and pages at
// once: what describes the pages (chunk tables, repetition indexes, dictionaries), which is then
// kept for the pages in use; positions in repetition indexes too large to keep; the values.
//
// Nothing that a file says is believed: counts are checked against the bytes that
// hold them or the limit of the read, and what two places tell is compared.
//
// Writing is the same backwards. Each leaf collects levels and values on its own until they are a page's worth; what
// these are decides on the layout: constant where there is no value (in 2.2 also where there is but one), a dictionary in a
// mini-block page where that pays, mini-blocks for values below 256 bytes, full-zip for the others; a field may ask for either of the
// last two. Package block chooses how the values are compressed. Whatever has no place in a mini-block chunk, as a
// value or as levels of empty lists, makes the page a full-zip one.
//
// Keep takes rows out of a page without either: control words and levels tell which values go, and the others stay in the encoding that
// they have.
package layout

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrCorrupt, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrUnsupported, fmt.Sprintf(format, args...))
}

func overLimit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrLimit, fmt.Sprintf(format, args...))
}
