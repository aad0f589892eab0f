package block

import (
	"encoding/binary"
	"math"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// countRuns counts runs of equal values of 8 to 64 bits.
func countRuns(v *Values) int {
	le, n := binary.LittleEndian, 0
	d := v.Data[:v.N*v.Bits/8]
	// A difference counts without a branch, which nothing could predict.
	add := func(x uint64) { n += int((x | -x) >> 63) }
	switch v.Bits {
	case 8:
		for i := 1; i < len(d); i++ {
			add(uint64(d[i] ^ d[i-1]))
		}
	case 16:
		last := le.Uint16(d)
		for i := 2; i+2 <= len(d); i += 2 {
			w := le.Uint16(d[i : i+2])
			add(uint64(w ^ last))
			last = w
		}
	case 32:
		last := le.Uint32(d)
		for i := 4; i+4 <= len(d); i += 4 {
			w := le.Uint32(d[i : i+4])
			add(uint64(w ^ last))
			last = w
		}
	default:
		last := le.Uint64(d)
		for i := 8; i+8 <= len(d); i += 8 {
			w := le.Uint64(d[i : i+8])
			add(w ^ last)
			last = w
		}
	}
	return n + 1
}

// runChunks writes each run as its value and its length, of one byte.
func runChunks(v *Values, mem *slab.Arena) (*Chunks, error) {
	bytes := v.Bits / 8
	runs := countRuns(v) + v.N/math.MaxUint8
	values, lengths := mem.Bytes(runs*bytes), mem.Bytes(runs)
	c := &Chunks{Encoding: runsEnc(v.Bits)}
	for at := 0; at < v.N; {
		n := fitting(v, at)
		haveValues, haveLengths := len(values), len(lengths)
		for end := at + n; at < end; {
			l := v.run(at, min(end, at+math.MaxUint8))
			values = append(values, v.Data[at*bytes:(at+1)*bytes]...)
			lengths = append(lengths, byte(l))
			at += l
		}
		c.add(n, len(values)-haveValues, len(lengths)-haveLengths)
	}
	c.Buffers = [][]byte{values, lengths}
	return c, nil
}

// run is how many values from at on, before end, are equal.
func (v *Values) run(at, end int) int {
	n, le := 1, binary.LittleEndian
	d := v.Data
	switch v.Bits {
	case 8:
		for first := d[at]; at+n < end && d[at+n] == first; {
			n++
		}
	case 16:
		for first := le.Uint16(d[2*at:]); at+n < end && le.Uint16(d[2*(at+n):]) == first; {
			n++
		}
	case 32:
		for first := le.Uint32(d[4*at:]); at+n < end && le.Uint32(d[4*(at+n):]) == first; {
			n++
		}
	default:
		for first := le.Uint64(d[8*at:]); at+n < end && le.Uint64(d[8*(at+n):]) == first; {
			n++
		}
	}
	return n
}

// fitting is how many values from at on make a chunk of runs: all that are left, or a power of two.
func fitting(v *Values, at int) int {
	left := v.N - at
	room, limit := MaxChunkBytes/(v.Bits/8+1), min(left, MaxChunkValues)
	runs, n := 0, 0
	for n < limit && runs < room {
		n += v.run(at+n, min(at+limit, at+n+math.MaxUint8))
		runs++
	}
	if n == left {
		return n
	}
	// A run that is cut still is one, so that any power of two below fits.
	return powerBelow(n)
}
