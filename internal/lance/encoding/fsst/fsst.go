// Package fsst reads and writes strings compressed with a Fast Static Symbol Table: each byte is the
// code of a symbol of 1 to 8 bytes, and 255 announces a byte that stands for itself.
// Every string is compressed on its own, so any of them can be read without the others.
//
// A table is 2312 bytes, little-endian:
//
//	0     u8   number of symbols, 0..255
//	1     u8   code of the terminator, of no use for reading
//	2     u8   limit of suffixes, of no use for reading
//	3     u8   1: strings are compressed, 0: they are stored as they are
//	4     u32  "FSST", as the bytes "TSSF"
//	8     8 bytes for each symbol, then 1 byte for each symbol's length, then nothing of interest
package fsst

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// TableSize is the size of a stored table, whatever the number of symbols.
	TableSize = 8 + 256*8 + 256
	// MaxSymbol is the longest symbol, so a string has at most as many times its stored bytes.
	MaxSymbol = 8

	magic  = 0x46535354
	escape = 255
)

// ErrCorrupt is wrapped by every error.
var ErrCorrupt = errors.New("corrupt FSST data")

// Table is a symbol table. It does not change, so that it may be used concurrently.
type Table struct {
	codes      [256]code
	compressed bool
}

// code is what a byte stands for.
type code struct {
	symbol uint64
	length uint64 // 0: no such code; MaxSymbol+1: escape
}

// Parse reads a stored table.
func Parse(b []byte) (*Table, error) {
	if len(b) != TableSize {
		return nil, fmt.Errorf("%w: symbol table of %d bytes", ErrCorrupt, len(b))
	}
	if m := binary.LittleEndian.Uint32(b[4:]); m != magic {
		return nil, fmt.Errorf("%w: symbol table starts with %#x", ErrCorrupt, m)
	}
	t := new(Table)
	switch b[3] {
	case 0:
	case 1:
		t.compressed = true
	default:
		return nil, fmt.Errorf("%w: symbol table of kind %d", ErrCorrupt, b[3])
	}
	n := int(b[0])
	for i := range n {
		l := b[8+8*n+i]
		if l == 0 || l > MaxSymbol {
			return nil, fmt.Errorf("%w: symbol %d has %d bytes", ErrCorrupt, i, l)
		}
		t.codes[i] = code{binary.LittleEndian.Uint64(b[8+8*i:]), uint64(l)}
	}
	t.codes[escape].length = MaxSymbol + 1
	return t, nil
}
