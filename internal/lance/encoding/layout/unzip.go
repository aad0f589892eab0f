package layout

import (
	"encoding/binary"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
)

const (
	// unzipAtOnce is how many slots are unzipped before their levels are turned into validity and offsets.
	unzipAtOnce = 4096
	// gather is the size up to which values are copied together before they are decoded, as that
	// costs less than to decode them one by one.
	gather = 256
)

func (z *fullZip) read(from, to uint64, bufs [][]byte, out *sink) error {
	if err := z.unzip(from, to, bufs, out); err != nil {
		return fmt.Errorf("full-zip: %w", err)
	}
	return nil
}

func (z *fullZip) unzip(from, to uint64, bufs [][]byte, out *sink) error {
	dst, shape := out.values, z.values.New(out.left())
	if out.dict != nil {
		dst = shape
	} else if err := out.fits(shape); err != nil {
		return err
	}
	u := unzipper{fullZip: z, out: out, data: bufs[0], dst: dst}
	starts := (to - from) * z.stride
	if z.word == 0 && z.prefix == 0 {
		if err := u.plain(starts); err != nil {
			return err
		}
	} else {
		for len(u.data) > 0 {
			if err := u.some(starts); err != nil {
				return err
			}
		}
	}
	if to-from == z.starts/z.stride && (uint32(u.slots) != uint32(z.slots) || uint32(u.places) != uint32(z.places)) {
		return corrupt("%d items, %d of them visible; the layout says %d and %d", u.slots, u.places, z.slots, z.places)
	}
	if out.dict != nil {
		if err := out.dict.add(out.values, nil, dst); err != nil {
			return err
		}
	}
	return out.took(0)
}

// unzipper separates levels and values of a run of rows.
type unzipper struct {
	*fullZip
	out           *sink
	dst           *block.Values
	data          []byte
	slots, places uint64
	gathered      []byte
}

// plain takes values that have no levels.
func (u *unzipper) plain(n uint64) error {
	if uint64(len(u.data)) != n*uint64(u.size) {
		return corrupt("%d bytes for %d values of %d", len(u.data), n, u.size)
	}
	if n > 64*uint64(u.out.limit) || n > 1<<31 {
		return overLimit("%d values", n)
	}
	if _, err := u.out.levels.Append(u.meaning, nil, nil, int(n)); err != nil {
		return err
	}
	if err := u.out.update(); err != nil {
		return err
	}
	if err := u.values.AppendFixed(u.dst, u.data, int(n)); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	u.slots, u.places = n, n
	u.out.count += int(n)
	return nil
}

// some takes up to unzipAtOnce slots.
func (u *unzipper) some(starts uint64) error {
	var rep, def []uint16
	if u.bitsRep > 0 {
		rep = u.out.rep[:0:unzipAtOnce]
	}
	if u.bitsDef > 0 {
		def = u.out.def[:0:unzipAtOnce]
	}
	n, had := 0, u.dst.N
	u.gathered = u.gathered[:0]
	pending := 0
	for ; n < unzipAtOnce && len(u.data) > 0; n++ {
		if len(u.data) < u.word {
			return corrupt("%d bytes where a control word of %d is due", len(u.data), u.word)
		}
		r, d := u.control(u.data)
		u.data = u.data[u.word:]
		if rep != nil {
			rep = append(rep, r)
		}
		if def != nil {
			def = append(def, d)
		}
		if d > u.meaning.MaxVisible {
			continue
		}
		if u.prefix > 0 {
			if err := u.variable(d); err != nil {
				return err
			}
			continue
		}
		if len(u.data) < u.size {
			return corrupt("%d bytes where a value of %d is due", len(u.data), u.size)
		}
		value := u.data[:u.size]
		u.data = u.data[u.size:]
		if u.size <= gather {
			u.gathered = append(u.gathered, value...)
			pending++
		} else if err := u.values.AppendFixed(u.dst, value, 1); err != nil {
			return fmt.Errorf("values: %w", err)
		}
	}
	if pending > 0 {
		if err := u.values.AppendFixed(u.dst, u.gathered, pending); err != nil {
			return fmt.Errorf("values: %w", err)
		}
		if u.slots == 0 {
			u.gathered = nil // an empty block may refer to what is appended first
		}
	}
	taken, err := u.out.levels.Append(u.meaning, rep, def, n)
	if err != nil {
		return err
	}
	if err := u.out.update(); err != nil {
		return err
	}
	if u.dst.N-had != taken {
		return corrupt("%d values for %d places", u.dst.N-had, taken)
	}
	u.out.count += taken
	if u.slots == 0 && u.bitsRep == 0 {
		extrapolate(u.dst, had+int(min(starts, 1<<31)))
	}
	u.slots += uint64(n)
	u.places += uint64(taken)
	return nil
}

// variable takes a value and its length; nulls have neither.
func (u *unzipper) variable(def uint16) error {
	if def != 0 {
		return u.dst.AppendNulls(1)
	}
	if len(u.data) < u.prefix {
		return corrupt("%d bytes where a length of %d is due", len(u.data), u.prefix)
	}
	size := uint64(0)
	if u.prefix == 4 {
		size = uint64(binary.LittleEndian.Uint32(u.data))
	} else {
		size = binary.LittleEndian.Uint64(u.data)
	}
	u.data = u.data[u.prefix:]
	if size > uint64(len(u.data)) {
		return corrupt("a value of %d bytes in %d", size, len(u.data))
	}
	if err := u.values.AppendVariable(u.dst, u.data[:size]); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	u.data = u.data[size:]
	return nil
}
