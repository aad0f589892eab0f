// Package jsonb turns the binary form in which Lance stores JSON into text.
//
//	container: u32 header: kind in the top 3 bits (scalar 1, object 2, array 4), count in the lower 28
//	  scalar: one entry, one value
//	  array:  count entries, count values
//	  object: count entries of keys, count entries of values, keys, values
//	entry: u32: kind in bits 28 to 30, bytes of the value in the lower 28
//	  0 null · 1 string · 2 number · 3 false · 4 true · 5 container
//	number: empty is zero, else one byte of kind and a big-endian value
//	  0x00 zero · 0x10 NaN · 0x20 infinity · 0x30 -infinity
//	  0x40 signed, 0x50 unsigned integer of 1, 2, 4 or 8 bytes · 0x60 float64
//
// All integers are big-endian.
package jsonb

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrInvalid is wrapped by every error.
var ErrInvalid = errors.New("invalid binary JSON")

// maxDepth bounds the nesting of containers.
const maxDepth = 512

const (
	scalar = 1 << 29
	object = 1 << 30
	list   = 1 << 31
	kinds  = 7 << 29
	counts = 1<<28 - 1
)

const (
	entryNull = iota << 28
	entryString
	entryNumber
	entryFalse
	entryTrue
	entryContainer
	entryKinds = 7 << 28
	entrySize  = 1<<28 - 1
)

// Append appends the text of the document b to dst. Numbers keep their type: a
// float has a point or an exponent. What JSON can't say, NaN and infinities, is null. An
// empty document is null.
func Append(dst, b []byte) ([]byte, error) {
	if len(b) == 0 {
		return append(dst, "null"...), nil
	}
	return appendContainer(dst, b, 0)
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

func appendContainer(dst, b []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, invalid("more than %d levels", maxDepth)
	}
	if len(b) < 4 {
		return nil, invalid("%d bytes where a header has 4", len(b))
	}
	head := binary.BigEndian.Uint32(b)
	n := int(head & counts)
	switch head & kinds {
	case scalar:
		v := values{entries: b[4:], n: 1}
		if err := v.init(); err != nil {
			return nil, err
		}
		return v.append(dst, depth)
	case list:
		v := values{entries: b[4:], n: n}
		if err := v.init(); err != nil {
			return nil, err
		}
		return appendList(dst, &v, n, depth)
	case object:
		v := values{entries: b[4:], n: 2 * n}
		if err := v.init(); err != nil {
			return nil, err
		}
		return appendObject(dst, v, n, depth)
	}
	return nil, invalid("header %#x", head)
}

func appendList(dst []byte, v *values, n, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = v.append(dst, depth); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, keys values, n, depth int) ([]byte, error) {
	// The values lie behind all of the keys.
	vals := keys
	for range n {
		if _, _, err := vals.next(); err != nil {
			return nil, err
		}
	}
	dst = append(dst, '{')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		kind, key, err := keys.next()
		if err != nil {
			return nil, err
		}
		if kind != entryString {
			return nil, invalid("key of kind %d", kind>>28)
		}
		dst = append(appendString(dst, key), ':')
		if dst, err = vals.append(dst, depth); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// values walks over entries and the values that they describe.
type values struct {
	entries, data []byte
	n             int
}

func (v *values) init() error {
	if v.n > len(v.entries)/4 {
		return invalid("%d entries in %d bytes", v.n, len(v.entries))
	}
	v.entries, v.data = v.entries[:v.n*4], v.entries[v.n*4:]
	return nil
}

func (v *values) next() (kind uint32, b []byte, err error) {
	e := binary.BigEndian.Uint32(v.entries)
	size := int(e & entrySize)
	if size > len(v.data) {
		return 0, nil, invalid("a value of %d bytes where %d are left", size, len(v.data))
	}
	b, v.data, v.entries = v.data[:size], v.data[size:], v.entries[4:]
	return e & entryKinds, b, nil
}

func (v *values) append(dst []byte, depth int) ([]byte, error) {
	kind, b, err := v.next()
	if err != nil {
		return nil, err
	}
	switch kind {
	case entryNull:
		return append(dst, "null"...), nil
	case entryString:
		return appendString(dst, b), nil
	case entryNumber:
		return appendNumber(dst, b)
	case entryFalse:
		return append(dst, "false"...), nil
	case entryTrue:
		return append(dst, "true"...), nil
	case entryContainer:
		return appendContainer(dst, b, depth+1)
	}
	return nil, invalid("a value of kind %d", kind>>28)
}
