package array

import (
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
)

// constant is one value of whole bytes for all rows.
type constant struct{ value []byte }

func (c *constant) bits() uint64 { return uint64(len(c.value)) * 8 }

func (c *constant) load(*read, uint64, uint64) (fixedPart, error) { return (*constantPart)(c), nil }

func (c *constant) need(_, _ uint64, out []datafile.Span) []datafile.Span { return out }

type constantPart constant

func (p *constantPart) raw() ([]byte, int, bool, bool) { return nil, 0, false, false }

func (p *constantPart) unpack(dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	if len(p.value) == 0 || len(dst)%len(p.value) != 0 {
		return corrupt("constant of %d bytes for %d", len(p.value), len(dst))
	}
	for n := copy(dst, p.value); n < len(dst); {
		n += copy(dst[n:], dst[:n])
	}
	return nil
}

// sameBit is one boolean for all rows.
type sameBit bool

func (s sameBit) load(_ *read, from, to uint64) (part, error) {
	return &sameBitPart{bool(s), int(to - from)}, nil
}

func (s sameBit) need(_, _ uint64, out []datafile.Span) []datafile.Span { return out }

type sameBitPart struct {
	set bool
	n   int
}

func (p *sameBitPart) prepare(*read) (uint64, error) { return 0, nil }

func (p *sameBitPart) appendTo(b *builder) error {
	b.grow()
	bitutil.SetBitsTo(b.data, int64(b.n), int64(p.n), p.set)
	b.n += p.n
	return nil
}
