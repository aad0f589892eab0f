package array

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

// text puts strings together: offsets of 32 or 64 bits, and bytes.
type text struct {
	r     *read
	total int
	n     int
	wide  bool
	off32 []int32 // total+1, when not wide
	off64 []int64 // total+1, when wide
	bytes []byte
	// expect is how many bytes will come, as far as known.
	expect uint64
}

func (t *text) grow() {
	switch {
	case t.wide && t.off64 == nil:
		t.off64 = make([]int64, t.total+1)
	case !t.wide && t.off32 == nil:
		t.off32 = make([]int32, t.total+1)
	}
}

// fits tells whether so many more bytes can be counted by the offsets.
func (t *text) fits(more uint64) error {
	if all := plus(uint64(len(t.bytes)), more); !t.wide && all > math.MaxInt32 {
		return fmt.Errorf("%w: %d bytes of strings with offsets of 32 bits", column.ErrLimit, all)
	}
	return nil
}

// add appends bytes. Where they are all that come, they are not copied, unless they
// are part of something larger.
func (t *text) add(b []byte, kept bool) {
	if t.bytes == nil && uint64(len(b)) >= t.expect && !kept {
		t.bytes = b[:len(b):len(b)]
		return
	}
	t.reserve()
	t.bytes = append(t.bytes, b...)
}

// reserve makes room for all that is expected, and for the offsets.
func (t *text) reserve() {
	if t.bytes == nil {
		t.bytes = make([]byte, 0, t.expect)
	}
	t.grow()
}

// ends appends the offsets of n strings whose bytes were added last and begin at
// first. null is called for the rows that are null.
func (t *text) ends(raw []byte, n int, first, adjust uint64, at int, valid *bitmap) error {
	t.grow()
	var err error
	if t.wide {
		err = decodeEnds(t.off64[t.n+1:t.n+1+n], raw, first, adjust, t.off64[t.n], at, valid)
	} else {
		err = decodeEnds(t.off32[t.n+1:t.n+1+n], raw, first, adjust, t.off32[t.n], at, valid)
	}
	t.n += n
	return err
}

// decodeEnds turns stored ends into offsets, which go on from base. The ends must not
// fall, and may not be below first. Row at+i is null where the adjustment was added to end i.
func decodeEnds[T int32 | int64](dst []T, raw []byte, first, adjust uint64, base T, at int, valid *bitmap) error {
	raw = raw[:len(dst)*8]
	prev := first
	shift := uint64(base) - first
	for i := range dst {
		v := binary.LittleEndian.Uint64(raw[i*8:])
		if v >= adjust {
			v -= adjust
			if v >= adjust {
				return corrupt("end %d, where nulls have %d added", v+adjust, adjust)
			}
			if err := valid.own(); err != nil {
				return err
			}
			valid.null(at + i)
		}
		if v < prev {
			return corrupt("ends fall from %d to %d", prev, v)
		}
		prev = v
		dst[i] = T(v + shift)
	}
	return nil
}

// lengths appends n strings of one length whose bytes were added last.
func (t *text) lengths(n, length int) {
	t.grow()
	if t.wide {
		for i := range n {
			t.off64[t.n+1+i] = t.off64[t.n+i] + int64(length)
		}
	} else {
		for i := range n {
			t.off32[t.n+1+i] = t.off32[t.n+i] + int32(length)
		}
	}
	t.n += n
}

// end appends one string, which ends behind the last byte added.
func (t *text) end() {
	if t.wide {
		t.off64[t.n+1] = int64(len(t.bytes))
	} else {
		t.off32[t.n+1] = int32(len(t.bytes))
	}
	t.n++
}

// empty appends empty strings.
func (t *text) empty(n int) {
	t.grow()
	for range n {
		t.end()
	}
}

func (t *text) finish() (offsets, data *memory.Buffer) {
	t.grow()
	if t.wide {
		offsets = memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(t.off64))
	} else {
		offsets = memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(t.off32))
	}
	return offsets, memory.NewBufferBytes(t.bytes)
}
