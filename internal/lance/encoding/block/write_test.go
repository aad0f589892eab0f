package block

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"testing"
)

// decode reads chunks back, all of them and then a part of each.
func (c *Chunks) decode(tb testing.TB) *Values {
	tb.Helper()
	d, err := NewChunk(c.Encoding)
	if err != nil {
		tb.Fatal(err)
	}
	if d.Buffers() != len(c.Buffers) {
		tb.Fatalf("%d buffers, should be %d", len(c.Buffers), d.Buffers())
	}
	v := d.New(unlimited)
	at := make([]int, len(c.Buffers))
	for i := range c.Counts {
		n, sizes := c.Chunk(i)
		if i < len(c.Counts)-1 && (bits.OnesCount(uint(n)) != 1 || n < 2) || n < 1 || n > MaxChunkValues {
			tb.Fatalf("%d values in chunk %d of %d", n, i, len(c.Counts))
		}
		buffers, total := make([][]byte, len(at)), 0
		for k, s := range sizes {
			buffers[k] = c.Buffers[k][at[k] : at[k]+int(s)]
			at[k] += int(s)
			total += int(s)
		}
		if total > maxWide+chunkCost {
			tb.Fatalf("%d bytes in chunk %d", total, i)
		}
		if err := d.Append(v, buffers, n, 0, n); err != nil {
			tb.Fatalf("chunk %d of %d, %d values: %v", i, len(c.Counts), n, err)
		}
		part := d.New(unlimited)
		if err := d.Append(part, buffers, n, n/3, n); err != nil || part.N != n-n/3 {
			tb.Fatalf("part of chunk %d: %d values, %v", i, part.N, err)
		}
	}
	for k, b := range c.Buffers {
		if at[k] != len(b) {
			tb.Fatalf("chunks take %d of %d bytes of buffer %d", at[k], len(b), k)
		}
	}
	return v
}

// decode reads zipped values back.
func (z *Zipped) decode(tb testing.TB) *Values {
	tb.Helper()
	d, err := NewZip(z.Encoding)
	if err != nil {
		tb.Fatal(err)
	}
	if d.Bits() != z.Bits {
		tb.Fatalf("%d bits, decoder says %d", z.Bits, d.Bits())
	}
	v := d.New(unlimited)
	if z.Offsets == nil {
		if err := d.AppendFixed(v, z.Data, z.N); err != nil {
			tb.Fatal(err)
		}
		return v
	}
	if len(z.Offsets) != z.N+1 || z.Offsets[0] != 0 || z.Offsets[z.N] != int64(len(z.Data)) || z.OffsetBits != 32 && z.OffsetBits != 64 {
		tb.Fatalf("%d offsets of %d bits into %d bytes for %d values", len(z.Offsets), z.OffsetBits, len(z.Data), z.N)
	}
	for i := range z.N {
		if err := d.AppendVariable(v, z.Append(nil, i)); err != nil {
			tb.Fatalf("value %d: %v", i, err)
		}
	}
	return v
}

// sameValues compares what has been read with what was written.
func sameValues(got, want *Values) error {
	if got.Kind != want.Kind || got.N != want.N || got.Dim != want.Dim || got.Bits != want.Bits || len(got.Fields) != len(want.Fields) {
		return fmt.Errorf("%d values of %s, want %d of %s", got.N, got.shape(), want.N, want.shape())
	}
	switch want.Kind {
	case Fixed:
		n := (want.N*want.Bits + 7) / 8
		a, b := got.Data, want.Data[:n]
		if want.N*want.Bits%8 != 0 {
			mask := byte(1<<(want.N*want.Bits%8) - 1)
			a, b = slices.Clone(a), slices.Clone(b)
			a[n-1], b[n-1] = a[n-1]&mask, b[n-1]&mask
		}
		if !bytes.Equal(a, b) {
			return fmt.Errorf("other bytes of %d values of %d bits", want.N, want.Bits)
		}
	case Variable:
		for i := range want.N {
			a, b := got.Data[got.Offsets[i]:got.Offsets[i+1]], want.Data[want.Offsets[i]:want.Offsets[i+1]]
			if !bytes.Equal(a, b) {
				return fmt.Errorf("value %d is %.40q, want %.40q", i, a, b)
			}
		}
	case List:
		if (got.Valid == nil) != (want.Valid == nil) {
			return fmt.Errorf("validity of items: %t, want %t", got.Valid != nil, want.Valid != nil)
		}
		for i := 0; want.Valid != nil && i < want.Items.N; i++ {
			if got.Valid[i/8]>>(i%8)&1 != want.Valid[i/8]>>(i%8)&1 {
				return fmt.Errorf("validity of item %d", i)
			}
		}
		return sameValues(got.Items, want.Items)
	case Struct:
		for i := range want.Fields {
			if err := sameValues(got.Fields[i], want.Fields[i]); err != nil {
				return fmt.Errorf("field %d: %w", i, err)
			}
		}
	}
	return nil
}
