package matrix_test

import (
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
)

// required are the layouts of each file version and the encodings that pages of them
// must have, as Tally counts them. No release writes the bit-packed and the fixed-size binary encoding of
// 2.0: package array has fixtures of those, made by hand.
var required = map[string][]string{
	"2.0 array": {
		"flat", "nullable", "all", "list", "fixed-size-list", "struct", "binary", "dictionary", "fsst", "packed-struct",
		"general", "lz4", "zstd",
	},
	"2.1 mini-block": {
		"flat", "variable", "inline bit-packing", "out-of-line bit-packing", "fsst", "dictionary", "rle",
		"byte-stream-split", "general", "lz4", "zstd", "fixed-size list", "validity", "packed struct", "rep", "def",
	},
	"2.1 full-zip": {"flat", "variable", "fsst", "general", "zstd", "fixed-size list", "validity", "constant", "rep", "def"},
	"2.1 constant": {},
	"2.1 blob":     {},
	"2.2 mini-block": {
		"flat", "variable", "inline bit-packing", "out-of-line bit-packing", "fsst", "dictionary", "rle",
		"byte-stream-split", "general", "lz4", "zstd", "fixed-size list", "validity", "packed struct", "rep", "def",
	},
	"2.2 full-zip": {"flat", "variable", "fsst", "general", "zstd", "fixed-size list", "validity", "variable packed struct", "rep", "def"},
	"2.2 constant": {"value", "rep", "def", "rle", "inline bit-packing", "out-of-line bit-packing"},
}

// requires fails when an encoding was not met.
func requires(t *testing.T, c *matrix.Tally) {
	t.Helper()
	for layout, encodings := range required {
		if c.Count(layout) == 0 {
			t.Errorf("no page of %s", layout)
		}
		for _, e := range encodings {
			if c.Count(layout+": "+e) == 0 {
				t.Errorf("no page of %s has %s", layout, e)
			}
		}
	}
}
