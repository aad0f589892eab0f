package array

import (
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// bitmap tells which of a number of rows are not null. Until a row is null there are no bits.
type bitmap struct {
	r     *read
	total int
	bits  []byte
	// marked is the row behind the last one that was made null: rows behind it are all valid.
	marked int
	// shared bits belong to what was fetched.
	shared bool
}

// own makes sure that there are bits which may be changed.
func (m *bitmap) own() error {
	if m.bits != nil && !m.shared {
		return nil
	}
	size := (m.total + 7) / 8
	if m.bits == nil {
		if err := m.r.take(uint64(size)); err != nil {
			return err
		}
	}
	b := make([]byte, size)
	if m.shared {
		copy(b, m.bits)
	} else {
		for i := range b {
			b[i] = 0xff
		}
	}
	m.bits, m.shared = b, false
	return nil
}

// null makes one row null. own has been called.
func (m *bitmap) null(row int) {
	bitutil.ClearBit(m.bits, row)
	m.marked = row + 1
}

// nullAll makes rows null.
func (m *bitmap) nullAll(from, n int) error {
	if n == 0 {
		return nil
	}
	if err := m.own(); err != nil {
		return err
	}
	bitutil.SetBitsTo(m.bits, int64(from), int64(n), false)
	m.marked = from + n
	return nil
}

// and makes those of n rows null whose bits, from a bit of src on, are not set.
func (m *bitmap) and(from, n int, src []byte, bit int) error {
	if bitutil.CountSetBits(src, bit, n) == n {
		return nil
	}
	if m.bits == nil && from == 0 && n == m.total && bit == 0 {
		size := (n + 7) / 8
		if err := m.r.take(uint64(size)); err != nil {
			return err
		}
		m.bits, m.shared, m.marked = src[:size:size], true, n
		return nil
	}
	if err := m.own(); err != nil {
		return err
	}
	if m.marked <= from {
		bitutil.CopyBitmap(src, bit, n, m.bits, from)
		m.marked = from + n
		return nil
	}
	for i := range n {
		if bitutil.BitIsNotSet(src, bit+i) {
			m.null(from + i)
		}
	}
	m.marked = from + n
	return nil
}

// buffer returns the bits for an array, and how many rows are null.
func (m *bitmap) buffer() (*memory.Buffer, int) {
	if m.bits == nil {
		return nil, 0
	}
	n := m.total - bitutil.CountSetBits(m.bits, 0, m.total)
	if n == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(m.bits), n
}
