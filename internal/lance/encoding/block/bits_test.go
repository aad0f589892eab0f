package block

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

func TestAppendBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, 64)
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	for at := range 20 {
		for off := range 20 {
			for _, n := range []int{0, 1, 3, 7, 8, 9, 48, 55, 56, 57, 64, 111, 112, 113, 300} {
				want := make([]byte, (at+n+7)/8)
				bitutil.CopyBitmap(src, 3, at, want, 0)
				bitutil.CopyBitmap(src, off, n, want, at)
				got := appendBits(nil, 0, src, 3, at)
				// What lies behind the end must not matter.
				got = append(got, 0xff, 0xff, 0xff)[:len(got)]
				got = appendBits(got, at, src[:(off+n+7)/8], off, n)
				if !bytes.Equal(got, want) {
					t.Fatalf("%d bits from %d behind %d: %08b, want %08b", n, off, at, got, want)
				}
				ones := appendBit(appendBits(nil, 0, src, 3, at), at, n, true)
				if len(ones) != len(want) || bitutil.CountSetBits(ones, at, n) != n || !bytes.Equal(appendBits(nil, 0, ones, 0, at), appendBits(nil, 0, src, 3, at)) {
					t.Fatalf("%d ones behind %d: %08b", n, at, ones)
				}
			}
		}
	}
}
