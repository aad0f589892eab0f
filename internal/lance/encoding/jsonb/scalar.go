package jsonb

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

func appendNumber(dst, b []byte) ([]byte, error) {
	if len(b) == 0 {
		return append(dst, '0'), nil
	}
	kind, b := b[0], b[1:]
	be := binary.BigEndian
	switch {
	case kind == 0x00 && len(b) == 0:
		return append(dst, '0'), nil
	case (kind == 0x10 || kind == 0x20 || kind == 0x30) && len(b) == 0:
		return append(dst, "null"...), nil
	case kind == 0x40 && len(b) == 1:
		return strconv.AppendInt(dst, int64(int8(b[0])), 10), nil
	case kind == 0x40 && len(b) == 2:
		return strconv.AppendInt(dst, int64(int16(be.Uint16(b))), 10), nil
	case kind == 0x40 && len(b) == 4:
		return strconv.AppendInt(dst, int64(int32(be.Uint32(b))), 10), nil
	case kind == 0x40 && len(b) == 8:
		return strconv.AppendInt(dst, int64(be.Uint64(b)), 10), nil
	case kind == 0x50 && len(b) == 1:
		return strconv.AppendUint(dst, uint64(b[0]), 10), nil
	case kind == 0x50 && len(b) == 2:
		return strconv.AppendUint(dst, uint64(be.Uint16(b)), 10), nil
	case kind == 0x50 && len(b) == 4:
		return strconv.AppendUint(dst, uint64(be.Uint32(b)), 10), nil
	case kind == 0x50 && len(b) == 8:
		return strconv.AppendUint(dst, be.Uint64(b), 10), nil
	case kind == 0x60 && len(b) == 8:
		return appendFloat(dst, math.Float64frombits(be.Uint64(b))), nil
	}
	return nil, invalid("a number of kind %#x with %d bytes", kind, len(b))
}

// appendFloat writes the shortest text that reads back as f, as Lance does: with
// a point, and an exponent below 1e-5 and from 1e16 on.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-5 || a >= 1e16) {
		at := len(dst)
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		// The standard library writes two digits of exponent at least.
		for i := at; i < len(dst)-2; i++ {
			if dst[i] == 'e' && dst[i+2] == '0' {
				return append(dst[:i+2], dst[i+3:]...)
			}
		}
		return dst
	}
	at := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[at:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

const hexDigits = "0123456789abcdef"

func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}
