package render

import (
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	// jsonShown of an array of more than jsonItems.
	jsonShown, jsonItems = 8, 16
	// jsonText and jsonBinary are how many bytes of a string and of binary are shown.
	jsonText, jsonBinary = 256, 48
)

// JSON is the style for scripts.
type JSON struct {
	// Full leaves nothing out.
	Full bool
}

// Append appends row i of an array.
func (j JSON) Append(b []byte, a arrow.Array, f arrow.Field, i int) []byte {
	return j.value(b, at(a, f, i))
}

func (j JSON) value(b []byte, v value) []byte {
	switch v.shape {
	case isLiteral:
		return append(b, v.text...)
	case isWord:
		return AppendString(b, v.text)
	case isString:
		return j.text(b, v.text)
	case isBinary:
		return j.binary(b, v.bytes)
	case isList:
		return j.array(b, v.to-v.from, "values", func(b []byte, i int) []byte {
			return j.value(b, at(v.items, v.field, v.from+i))
		})
	case isStruct:
		b = append(b, '{')
		for k := range v.members() {
			a, f := v.member(k)
			b = comma(b, k)
			b = append(AppendString(b, f.Name), ':')
			b = j.value(b, at(a, f, v.from))
		}
		return append(b, '}')
	case isMap:
		keys, values, kf, vf := v.entries()
		return j.array(b, v.to-v.from, "entries", func(b []byte, i int) []byte {
			b = j.value(append(b, `{"key":`...), at(keys, kf, v.from+i))
			b = j.value(append(b, `,"value":`...), at(values, vf, v.from+i))
			return append(b, '}')
		})
	}
	return append(b, "null"...)
}

func (j JSON) array(b []byte, n int, what string, item func([]byte, int) []byte) []byte {
	shown := n
	if !j.Full && n > jsonItems {
		shown = jsonShown
	}
	b = append(b, '[')
	for i := range shown {
		b = item(comma(b, i), i)
	}
	if shown < n {
		b = AppendString(comma(b, shown), fmt.Sprintf("%s %d %s", more, n, what))
	}
	return append(b, ']')
}

func (j JSON) text(b []byte, s string) []byte {
	// JSON can't say what is no UTF-8, and U+FFFD would hide that it was there.
	if !utf8.ValidString(s) {
		return j.binary(b, []byte(s))
	}
	if j.Full || len(s) <= jsonText {
		return AppendString(b, s)
	}
	n := jsonText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return AppendString(b, fmt.Sprintf("%s%s (%d bytes)", s[:n], more, len(s)))
}

func (j JSON) binary(b, bytes []byte) []byte {
	shown, end := bytes, `"}`
	if !j.Full && len(bytes) > jsonBinary {
		shown, end = bytes[:jsonBinary], more+end
	}
	b = fmt.Appendf(b, `{"bytes":%d,"base64":"`, len(bytes))
	b = base64.StdEncoding.AppendEncode(b, shown)
	return append(b, end...)
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// AppendString appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return append(b, '"')
}
