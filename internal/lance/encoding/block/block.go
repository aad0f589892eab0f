// Package block turns compressed blocks of values into Values, and those into Arrow arrays, and the other
// way round: see EncodeOptions.
//
// How a block became bytes is told by a tree of compressive encodings. Where a
// block stands decides which of the three decoders reads it:
//
//	Chunk   the value buffers of a mini-block chunk: flat, variable, inline bit-packing, FSST, RLE,
//	        byte-stream-split, fixed-size lists, packed structs, each also under general compression
//	Zip     values of a full-zip page: flat, variable, FSST, general compression value by value,
//	        fixed-size lists, packed structs with fields of any width
//	Whole   a buffer that is one block (levels, dictionaries): flat, variable, constant, both
//	        bit-packings, RLE, fixed-size lists, general compression
//
// An encoding that the format has a name for, but that no writer puts in a place, is refused there with
// column.ErrUnsupported. All lengths, counts and offsets are checked before use; those that
// contradict each other are column.ErrCorrupt. Strings are not checked for UTF-8. What an appending function leaves
// in a block when it fails is of no use.
package block

// Kind is the shape of a block of values.
type Kind int

const (
	// Fixed values have one width: Bits each. Bits is 1 or a multiple of 8; 0 for values that
	// are all null, whatever their type.
	Fixed Kind = iota + 1
	// Variable values are strings of bytes of any length.
	Variable
	// List values are fixed-size lists: Dim items each, in Items; Valid tells which items are not null.
	List
	// Struct values are packed structs: one block per field, in Fields.
	Struct
)

// Values is a growing block of decoded values. Whether a value itself is null is
// not here: that comes from the definition levels.
type Values struct {
	Kind Kind
	N    int
	// Limit is the most bytes that all buffers of this block and of those within it
	// may take; appending more is column.ErrLimit.
	Limit int64

	Bits    int     // Fixed
	Data    []byte  // Fixed: the values, packed from the lowest bit when Bits is 1. Variable: their bytes. May alias what was appended first
	Offsets []int64 // Variable: N+1, from 0

	Dim   int     // List
	Items *Values // List: N*Dim
	Valid []byte  // List: bitmap over the N*Dim items; nil when none is null

	Fields []*Values // Struct

	before []byte // Fixed: the value before these, if they are one of several Parts
}

// Chunk decodes the value buffers of mini-block chunks. It is safe for concurrent use.
type Chunk interface {
	// Buffers is how many buffers a chunk has.
	Buffers() int
	// New makes an empty block of the kind that Append fills.
	New(limit int64) *Values
	// Append decodes a chunk of n values and appends those in [from, to) to dst.
	Append(dst *Values, buffers [][]byte, n, from, to int) error
}

// Zip decodes the values of full-zip pages. It is safe for concurrent use.
type Zip interface {
	// Bits is the width of a stored value; 0 when values vary in length, or are all null and
	// take no bytes.
	Bits() int
	// New makes an empty block of the kind that the appending methods fill.
	New(limit int64) *Values
	// AppendFixed appends n values of Bits each, stored one behind the other.
	AppendFixed(dst *Values, data []byte, n int) error
	// AppendVariable appends one value of varying length, as it is stored.
	AppendVariable(dst *Values, value []byte) error
}

// Whole decodes a buffer that is one block: levels, dictionaries. It is safe for concurrent use.
type Whole interface {
	// Decode decodes n values.
	Decode(data []byte, n int, limit int64) (*Values, error)
}
