package layout

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

const (
	// tolerable is how much of a page may be what other values would not need.
	tolerable = 0.03
	// leastSymbols is the size of values below which a symbol table costs more than a tolerable part.
	leastSymbols = 16 << 10
	// manySymbols is the size of values from which on a table that was made for others suits them, too, as far as it did
	// those; for fewer of them the rows that it was made for must hardly have changed.
	manySymbols = 128 << 10
)

// suits tells whether a symbol table is still good enough for values of some bytes, of kept of rows.
func suits(e *pb.CompressiveEncoding, bytes int, kept, rows uint64) bool {
	for e.GetGeneral() != nil {
		e = e.GetGeneral().GetValues()
	}
	return e.GetFsst() == nil || bytes >= manySymbols || bytes >= leastSymbols && kept >= rows-rows/8
}

// worthwhile tells with an error when a page of so many bytes of chunks has too much that its values don't need.
func (k *miniKeeper) worthwhile(chunks int, buffers [][]byte) error {
	if !k.counts {
		return nil
	}
	used, err := k.used()
	if err != nil {
		return err
	}
	words := float64(len(buffers[2]))
	if words*float64(k.dictItems-used)/float64(k.dictItems) > tolerable*(words+float64(chunks)) {
		return errAnew
	}
	return nil
}

// used counts the words of the dictionary that are used.
func (k *miniKeeper) used() (uint64, error) {
	v := k.taken
	if v.Kind != block.Fixed || v.Bits < 8 || v.Bits > 64 {
		return 0, corrupt("dictionary indices of %d bits", v.Bits)
	}
	if k.dictItems > 2*uint64(v.N)+64 {
		return 0, errAnew
	}
	seen := make([]uint64, k.dictItems/64+1)
	n, width := uint64(0), v.Bits/8
	for i := range v.N {
		// An index that leads nowhere may be that of a null.
		if x := readUint(v.Data, i, width); x < k.dictItems && seen[x/64]>>(x%64)&1 == 0 {
			seen[x/64] |= 1 << (x % 64)
			n++
		}
	}
	return n, nil
}
