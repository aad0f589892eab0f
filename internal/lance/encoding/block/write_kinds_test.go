package block

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// ints makes values of some bits of what f returns.
func ints(wide, n int, f func(i int) uint64) *Values {
	v := &Values{Kind: Fixed, Bits: wide, N: n, Limit: unlimited}
	for i := range n {
		b := binary.LittleEndian.AppendUint64(nil, f(i))
		for len(b) < wide/8 {
			b = append(b, 0)
		}
		v.Data = append(v.Data, b[:wide/8]...)
	}
	return v
}

func bools(n int, rng *rand.Rand) *Values {
	v := &Values{Kind: Fixed, Bits: 1, N: n, Limit: unlimited}
	for range (n + 7) / 8 {
		v.Data = append(v.Data, byte(rng.Uint32()))
	}
	return v
}

func texts(n int, f func(i int) string) *Values {
	v := stringShape.empty(unlimited)
	for i := range n {
		v.Data = append(v.Data, f(i)...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	v.N = n
	return v
}

// validity makes a bitmap in which about one of eight bits is not set.
func validity(n int, rng *rand.Rand) []byte {
	b := make([]byte, (n+7)/8)
	for i := range b {
		b[i] = byte(rng.Uint32() | rng.Uint32() | rng.Uint32())
	}
	return b
}

// sorts are values of every kind that columns have, n of each.
func sorts(n int) map[string]*Values {
	rng := rand.New(rand.NewPCG(8, uint64(n)))
	pick := strings.Fields("red green blue yellow magenta cyan black white orange purple pink brown")
	m := map[string]*Values{
		"bool":           bools(n, rng),
		"u8 random":      ints(8, n, func(int) uint64 { return rng.Uint64() }),
		"u8 small":       ints(8, n, func(int) uint64 { return rng.Uint64N(8) }),
		"i16 small":      ints(16, n, func(int) uint64 { return rng.Uint64N(1000) }),
		"i32 random":     ints(32, n, func(int) uint64 { return rng.Uint64() }),
		"i32 sorted":     ints(32, n, func(i int) uint64 { return uint64(i) * 3 }),
		"i64 random":     ints(64, n, func(int) uint64 { return rng.Uint64() }),
		"i64 small":      ints(64, n, func(int) uint64 { return rng.Uint64N(100) }),
		"i64 0 and 1":    ints(64, n, func(int) uint64 { return rng.Uint64N(2) }),
		"i64 runs":       ints(64, n, func(i int) uint64 { return uint64(i/100) * 0x123456789 }),
		"i64 long runs":  ints(64, n, func(i int) uint64 { return uint64(i/3000) * 0x123456789 }),
		"i64 zeros":      ints(64, n, func(i int) uint64 { return uint64(i / max(n-5, 1)) }),
		"i64 negative":   ints(64, n, func(i int) uint64 { return -rng.Uint64N(100) }),
		"timestamp":      ints(64, n, func(i int) uint64 { return 1_700_000_000_000_000 + uint64(i)*1_000_003 }),
		"f32 random":     ints(32, n, func(int) uint64 { return uint64(math.Float32bits(rng.Float32())) }),
		"f64 random":     ints(64, n, func(int) uint64 { return math.Float64bits(rng.Float64()) }),
		"f64 normal":     ints(64, n, func(int) uint64 { return math.Float64bits(rng.NormFloat64()) }),
		"f64 distinct":   ints(64, n, func(int) uint64 { return math.Float64bits(float64(rng.IntN(1001)) / 1000) }),
		"f64 prices":     ints(64, n, func(int) uint64 { return math.Float64bits(float64(rng.IntN(1e6)) / 100) }),
		"decimal":        ints(128, n, func(int) uint64 { return rng.Uint64N(1e9) }),
		"decimal few":    ints(128, n, func(int) uint64 { return rng.Uint64N(50) }),
		"24 bits":        ints(24, n, func(int) uint64 { return rng.Uint64() }),
		"short strings":  texts(n, func(i int) string { return fmt.Sprintf("user-%d", rng.IntN(1e8)) }),
		"few strings":    texts(n, func(i int) string { return pick[rng.IntN(len(pick))] }),
		"1000 strings":   texts(n, func(i int) string { return fmt.Sprintf("category number %d", rng.IntN(1000)) }),
		"empty strings":  texts(n, func(i int) string { return "" }),
		"mostly nothing": texts(n, func(i int) string { return strings.Repeat("x", max(rng.IntN(100)-90, 0)) }),
		"bytes": texts(n, func(i int) string {
			b := make([]byte, rng.IntN(30))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return string(b)
		}),
		"sentences": texts(n, func(i int) string {
			var b []string
			for range 20 + rng.IntN(15) {
				b = append(b, pick[rng.IntN(len(pick))])
			}
			return strings.Join(b, " ")
		}),
	}
	f32 := func(n int) *Values {
		return ints(32, n, func(int) uint64 { return uint64(math.Float32bits(rng.Float32())) })
	}
	m["vectors of 8"] = lists(8, f32(8*n))
	m["vectors of 8, nulls"] = lists(8, f32(8*n), validity(8*n, rng)...)
	m["lists of 3 bytes"] = lists(3, ints(8, 3*n, func(int) uint64 { return rng.Uint64() }), validity(3*n, rng)...)
	m["lists of 8 bools"] = lists(8, bools(8*n, rng))
	m["lists of lists"] = lists(2, lists(3, ints(16, 6*n, func(int) uint64 { return rng.Uint64() }), validity(6*n, rng)...), validity(2*n, rng)...)
	return m
}
