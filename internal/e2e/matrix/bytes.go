package matrix

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// byteStrings is what strings and binaries of both sizes have in common.
type byteStrings struct {
	offset func(i int) int64
	data   []byte
}

// at is value i.
func (s byteStrings) at(i int) []byte { return s.data[s.offset(i):s.offset(i+1)] }

func bytesOf(a arrow.Array) (byteStrings, bool) {
	// An array of no values may have no buffer.
	data := func() []byte {
		if b := a.Data().Buffers(); len(b) > 2 && b[2] != nil {
			return b[2].Bytes()
		}
		return nil
	}
	first := a.Data().Offset()
	switch a.DataType().ID() {
	case arrow.STRING, arrow.BINARY:
		offsets := arrow.Int32Traits.CastFromBytes(a.Data().Buffers()[1].Bytes())
		return byteStrings{func(i int) int64 { return int64(offsets[first+i]) }, data()}, true
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		offsets := arrow.Int64Traits.CastFromBytes(a.Data().Buffers()[1].Bytes())
		return byteStrings{func(i int) int64 { return offsets[first+i] }, data()}, true
	}
	return byteStrings{}, false
}

func diffBytes(x byteStrings, i int, y byteStrings, j, n int) error {
	for k := range n {
		if p, q := x.at(i+k), y.at(j+k); !bytes.Equal(p, q) {
			return fmt.Errorf("value %d: %s, want %s", k, shorten(q), shorten(p))
		}
	}
	return nil
}

func shorten(b []byte) string {
	if len(b) > 40 {
		return fmt.Sprintf("%q… of %d bytes", b[:40], len(b))
	}
	return fmt.Sprintf("%q", b)
}
