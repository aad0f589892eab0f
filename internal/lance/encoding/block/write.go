package block

import (
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// EncodeOptions is what decides how values are encoded, beside the values.
//
// What is written mirrors what is read: one function for each of the three places where a block can stand.
//
//	EncodeChunks  the value buffers of a mini-block page, for NewChunk
//	EncodeZip     the values of a full-zip page, for NewZip
//	EncodeWhole   a buffer that is one block, for NewWhole; a LevelEncoder for levels
//
// All take Values (AppendArray fills them) and choose an encoding by what the values are, by the
// field's own wishes and by what readers of the file's version understand. They don't change the values, they
// keep no reference to them, but their results may share memory with them. The same values and options give the
// same bytes. Whether a value is null is of no concern here: nulls are values like others, best zeros.
type EncodeOptions struct {
	// Minor is the file version: 1 for 2.1, 2 for 2.2. Nothing is written that 2.Minor does not have.
	Minor int
	// OffsetBits is the width of the offsets of values of varying length: 32, or 64 for the
	// large types. 0 is 32.
	OffsetBits int
	// FullZip tells BuildDictionary that without a dictionary the values won't be in chunks.
	FullZip bool
	// Fields has the options of each field of a packed struct. It may be shorter than there are
	// fields: the rest have Minor alone.
	Fields []EncodeOptions
	// Memory lends what results are made of, which then are good until it is freed; nil makes them anew.
	Memory *slab.Arena
	Hints
}

// Chunks is the values of a mini-block page in chunks.
type Chunks struct {
	Encoding *pb.CompressiveEncoding
	// Buffers are the value buffers, each with the parts of all chunks one behind the other, without any
	// padding between them. There may be none when there are no values.
	Buffers [][]byte
	// Counts has the number of values in each chunk: powers of two from 2 to 1<<15, but for the last chunk.
	Counts []int32
	// Sizes has the bytes of each chunk in each buffer: len(Buffers) numbers for the first chunk, then
	// for the second and so on.
	Sizes []int32
}

// Chunk returns the number of values of chunk i and its sizes, one a buffer.
func (c *Chunks) Chunk(i int) (values int, sizes []int32) {
	k := len(c.Buffers)
	return int(c.Counts[i]), c.Sizes[i*k : (i+1)*k]
}

// add appends a chunk.
func (c *Chunks) add(values int, sizes ...int) {
	c.Counts = append(c.Counts, int32(values))
	for _, s := range sizes {
		c.Sizes = append(c.Sizes, int32(s))
	}
}

// Zipped is the values of a full-zip page, each by itself.
type Zipped struct {
	Encoding *pb.CompressiveEncoding
	// Bits of each value, when all have one width: a multiple of 8. 0 when they vary in length.
	Bits int
	// N is the number of values.
	N int
	// Data is the values one behind the other, without their lengths.
	Data []byte
	// Offsets of the values in Data, one more than there are values, from 0; nil when all have one width.
	Offsets []int64
	// OffsetBits is the width of the length that stands before a value of varying length: 32 or 64.
	OffsetBits int
	// Symbols, if there are some, compress each value that Append takes out of Data.
	Symbols *fsst.Encoder
}

// Append appends value i of those that vary in length, as it is stored.
func (z *Zipped) Append(dst []byte, i int) []byte {
	value := z.Data[z.Offsets[i]:z.Offsets[i+1]]
	if z.Symbols == nil {
		return append(dst, value...)
	}
	return z.Symbols.Append(dst, value)
}

// Size is how many bytes all values take, about as many if they are compressed as they are taken.
func (z *Zipped) Size() int {
	if z.Symbols == nil {
		return len(z.Data)
	}
	return int(float64(len(z.Data)) * min(z.Symbols.Ratio()*1.03, 1))
}

const (
	// MaxChunkBytes is what all value buffers of a chunk together stay below, but for what does not get smaller
	// by bit-packing or compression, which may be a little above, and for the wide: no chunk has more
	// than twice as much.
	MaxChunkBytes = 8<<10 - 6
	// MaxChunkValues is the most values in a chunk.
	MaxChunkValues = 4096
)

// ErrWide is wrapped by the error about values that chunks can't hold but a full-zip page can: they are
// too wide, or structs of more than fields of one width.
var ErrWide = errors.New("not for mini-block chunks")

// EncodeChunks encodes the values of a mini-block page. Fixed, Variable, List and Struct values can be, the last
// only with fields of fixed width. v has at least one value.
func EncodeChunks(v *Values, o EncodeOptions) (*Chunks, error) {
	c, err := encodeChunks(v, o)
	if err != nil {
		return nil, fmt.Errorf("mini-block chunks of %s: %w", v.shape(), err)
	}
	return c, nil
}

// EncodeZip encodes the values of a full-zip page. Fixed and List values have one width; Variable values, and Struct
// values (2.2 alone, with at least one field of varying length or of lists) vary in length.
func EncodeZip(v *Values, o EncodeOptions) (*Zipped, error) {
	z, err := encodeZip(v, o)
	if err != nil {
		return nil, fmt.Errorf("full-zip values of %s: %w", v.shape(), err)
	}
	return z, nil
}

// EncodeWhole encodes values as one buffer: a dictionary (Fixed of 8 to 64 bits or 128, or Variable).
func EncodeWhole(v *Values, o EncodeOptions) (*pb.CompressiveEncoding, []byte, error) {
	enc, b, err := encodeWhole(v, o)
	if err != nil {
		return nil, nil, fmt.Errorf("a buffer of %s: %w", v.shape(), err)
	}
	return enc, b, nil
}

// BuildDictionary makes a dictionary of the distinct values, in the order in which they come first, and
// indices into it (32 bits wide; 64 for values with offsets of 64 bits), when that is likely to be smaller than the
// values. Otherwise, and always for lists and structs, ok is false.
//
// The indices are then encoded with EncodeChunks, the dictionary with EncodeWhole, both with o.ForIndices and
// o.ForDictionary as options.
func BuildDictionary(v *Values, o EncodeOptions) (dict, indices *Values, ok bool) {
	return buildDictionary(v, o)
}

// ForIndices is the options of the indices into a dictionary of values with options o.
func (o EncodeOptions) ForIndices() EncodeOptions {
	o.BSS = min(o.BSS, autoBSS) // bytes of indices are split where that pays, not wherever those of values are
	return EncodeOptions{Minor: o.Minor, Hints: o.Hints, Memory: o.Memory}
}

// ForDictionary is the options of a dictionary of values with options o.
func (o EncodeOptions) ForDictionary() EncodeOptions {
	d := EncodeOptions{Minor: o.Minor, OffsetBits: o.OffsetBits, Memory: o.Memory}
	d.Compression, d.Level = o.DictCompression, o.DictLevel
	return d
}

// LevelEncoder encodes levels of a page. All chunks of a page have one encoding.
type LevelEncoder struct {
	Encoding *pb.CompressiveEncoding
	width    int  // bits kept of each level; 16 is flat
	inline   bool // each block behind its width
}

// NewLevelEncoder makes an encoder for the levels of a page, of one kind: repetition or definition. Append then takes
// them in any parts.
func NewLevelEncoder(levels []uint16, o EncodeOptions) *LevelEncoder {
	return newLevelEncoder(levels, o.Minor)
}

// Append appends the bytes of some levels to dst. There is at least one.
func (e *LevelEncoder) Append(dst []byte, levels []uint16) []byte { return e.append(dst, levels) }
