package block

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Hints is what the metadata of a field says about its encoding. The zero value says nothing.
type Hints struct {
	// Compression is "none", "fsst", "lz4" or "zstd"; "" leaves the choice to the encoder.
	Compression string
	// Level of the compression; 0 is the default.
	Level int
	// RLEThreshold is how many runs there may be for each value, so that runs are encoded where that is
	// smallest. 0 is any number; below 0 never.
	RLEThreshold float64
	// BSS is from which entropy on, as part of the largest, bytes of numbers are not split into streams.
	// 0 never splits, 1 always does. Bytes are only split where there is general compression.
	BSS float64
	// DictRatio is the largest size of a dictionary with its indices for each byte of the values,
	// 0 for the default. DictDivisor is how many values there are to be for each entry, 0 for any number.
	DictRatio   float64
	DictDivisor int
	// DictCompression is for the dictionary: "none", "lz4", "zstd", or "" for the default. Only 2.2 compresses them.
	DictCompression string
	DictLevel       int
	// ChunkBytes is the size of a chunk of values of varying length to stay below, where there is
	// no other limit; 0 for the default.
	ChunkBytes int
}

// autoBSS is the sensitivity of "auto".
const autoBSS = 0.5

// The keys of field metadata.
const (
	keyCompression     = "lance-encoding:compression"
	keyLevel           = "lance-encoding:compression-level"
	keyRLE             = "lance-encoding:rle-threshold"
	keyBSS             = "lance-encoding:bss"
	keyDictDivisor     = "lance-encoding:dict-divisor"
	keyDictRatio       = "lance-encoding:dict-size-ratio"
	keyDictCompression = "lance-encoding:dict-values-compression"
	keyDictLevel       = "lance-encoding:dict-values-compression-level"
	keyChunk           = "lance-encoding:minichunk-size"
)

// ParseHints reads the metadata of a field. Keys that say nothing about values are passed over. An error names
// the first key, in the order above, whose value is not understood; the hints are good without it, so that who must write
// a table with such metadata may go on.
func ParseHints(md arrow.Metadata) (Hints, error) {
	h := Hints{BSS: autoBSS}
	var first error
	bad := func(key, value string) {
		if first == nil {
			first = fmt.Errorf("metadata %s=%q is not understood", key, value)
		}
	}
	text := func(key string, dst *string, allowed ...string) {
		v, ok := md.GetValue(key)
		if !ok {
			return
		}
		for _, a := range allowed {
			if v == a {
				*dst = v
				return
			}
		}
		bad(key, v)
	}
	number := func(key string, dst *int, low, high int) {
		if v, ok := md.GetValue(key); ok {
			if n, err := strconv.Atoi(v); err == nil && n >= low && n <= high {
				*dst = n
			} else {
				bad(key, v)
			}
		}
	}
	ratio := func(key string, dst *float64, zero float64) {
		if v, ok := md.GetValue(key); ok {
			switch f, err := strconv.ParseFloat(v, 64); {
			case err != nil || !(f >= 0) || f > 1:
				bad(key, v)
			case f == 0:
				*dst = zero
			default:
				*dst = f
			}
		}
	}
	text(keyCompression, &h.Compression, "none", "fsst", "lz4", "zstd")
	number(keyLevel, &h.Level, -128, 22)
	ratio(keyRLE, &h.RLEThreshold, -1)
	if v, ok := md.GetValue(keyBSS); ok {
		switch strings.ToLower(v) {
		case "off":
			h.BSS = 0
		case "on":
			h.BSS = 1
		case "auto":
		default:
			bad(keyBSS, v)
		}
	}
	number(keyDictDivisor, &h.DictDivisor, 1, 1<<30)
	ratio(keyDictRatio, &h.DictRatio, 0)
	text(keyDictCompression, &h.DictCompression, "none", "lz4", "zstd")
	number(keyDictLevel, &h.DictLevel, -128, 22)
	number(keyChunk, &h.ChunkBytes, 1, 1<<30)
	return h, first
}
