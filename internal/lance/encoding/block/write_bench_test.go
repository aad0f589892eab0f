package block

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// BenchmarkEncode encodes values as they come by default; bytes are those of the values.
func BenchmarkEncode(b *testing.B) {
	const n = 100_000
	all := sorts(n)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		b.Run(name, func(b *testing.B) {
			o := EncodeOptions{Minor: 2}
			c, err := EncodeChunks(v, o)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(v.size())
			b.ReportAllocs()
			b.ReportMetric(float64(c.cost())/float64(n), "B/value")
			for b.Loop() {
				if _, err := EncodeChunks(v, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncodeCompressed(b *testing.B) {
	all := sorts(100_000)
	for _, name := range []string{"f64 prices", "f64 normal", "i64 small", "sentences", "short strings"} {
		for _, scheme := range []string{"lz4", "zstd"} {
			v := all[name]
			b.Run(fmt.Sprint(name, " ", scheme), func(b *testing.B) {
				o := EncodeOptions{Minor: 2, Hints: Hints{Compression: scheme, BSS: autoBSS}}
				b.SetBytes(v.size())
				b.ReportAllocs()
				for b.Loop() {
					if _, err := EncodeChunks(v, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkBuildDictionary(b *testing.B) {
	all := sorts(100_000)
	for _, name := range []string{"few strings", "1000 strings", "short strings", "bytes", "f64 distinct", "i64 random", "decimal", "decimal few"} {
		v := all[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(v.size())
			b.ReportAllocs()
			for b.Loop() {
				BuildDictionary(v, EncodeOptions{Minor: 2})
			}
		})
	}
}
