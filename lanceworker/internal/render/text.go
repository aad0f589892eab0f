package render

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	// shownItems of a list of more than maxItems.
	shownItems, maxItems = 4, 8
	// hexBytes of binary are shown, nestedBytes of a string inside another value.
	hexBytes, nestedBytes = 12, 48
)

// Text is the style for people. The zero value shortens nothing and shows a null as nothing.
type Text struct {
	// Null stands for a value that there is none of.
	Null string
	// Bytes is the most that one value may take, the mark of what was left out
	// included; 0 is no limit, and then nothing is shortened. Fewer than 32 are taken as 32.
	Bytes int
}

// Value renders row i of an array. The result is one line of valid UTF-8.
func (t Text) Value(a arrow.Array, f arrow.Field, i int) string {
	w := textWriter{limit: t.Bytes}
	if w.limit > 0 {
		w.limit = max(w.limit, 32)
	}
	v := at(a, f, i)
	switch v.shape {
	case isNull:
		return t.Null
	case isString:
		return w.top(v.text)
	case isStruct:
		if size, ok := blobSize(v, f); ok {
			return "blob, " + size + " bytes"
		}
	}
	w.value(v)
	return w.result()
}

// Name renders the name of a column in the same way.
func (t Text) Name(name string) string {
	w := textWriter{limit: max(t.Bytes, 32)}
	return w.top(name)
}

// blobSize is how many bytes a blob has, of which the column holds a descriptor only.
func blobSize(v value, f arrow.Field) (string, bool) {
	if f.Metadata.FindKey("lance-encoding:blob") < 0 && extension(f) != "lance.blob.v2" {
		return "", false
	}
	for k := range v.members() {
		if a, m := v.member(k); m.Name == "size" {
			size := at(a, m, v.from)
			return size.text, size.shape == isLiteral
		}
	}
	return "", false
}

// textWriter stops when what it has written is over its limit.
type textWriter struct {
	b     []byte
	limit int
}

func (w *textWriter) full() bool { return w.limit > 0 && len(w.b) > w.limit }

// result is what was written, cut where it is over the limit.
func (w *textWriter) result() string {
	if w.full() {
		return string(cut(w.b, w.limit-len(more))) + more
	}
	return string(w.b)
}

// cut takes bytes off the end, characters only as a whole.
func cut(b []byte, n int) []byte {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// top is a string that is a column's value itself: without quotes, and with its
// length where it is too long.
func (w *textWriter) top(s string) string {
	w.printable(s)
	if !w.full() {
		return string(w.b)
	}
	end := fmt.Sprintf("%s (%d bytes)", more, len(s))
	return string(cut(w.b, w.limit-len(end))) + end
}

// printable appends a string with everything escaped that would not stand on
// one line of a terminal.
func (w *textWriter) printable(s string) {
	for i := 0; i < len(s) && !w.full(); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			w.b = fmt.Appendf(w.b, `\x%02x`, s[i])
		case strconv.IsPrint(r):
			w.b = append(w.b, s[i:i+n]...)
		default:
			quoted := strconv.QuoteRune(r)
			w.b = append(w.b, quoted[1:len(quoted)-1]...)
		}
		i += n
	}
}

func (w *textWriter) text(s string) { w.b = append(w.b, s...) }

func (w *textWriter) value(v value) {
	switch v.shape {
	case isNull:
		w.text("null")
	case isLiteral, isWord:
		w.text(v.text)
	case isString:
		w.nested(v.text)
	case isBinary:
		w.binary(v.bytes)
	case isList:
		w.list(v)
	case isStruct:
		w.structure(v)
	case isMap:
		w.mapping(v)
	}
}

func (w *textWriter) nested(s string) {
	if w.limit == 0 {
		w.b = strconv.AppendQuote(w.b, s)
		return
	}
	short := s
	if len(s) > nestedBytes {
		short = string(cut([]byte(s), nestedBytes))
	}
	w.b = strconv.AppendQuote(w.b, short)
	if len(short) < len(s) {
		w.b = append(w.b[:len(w.b)-1], more+`"`...)
	}
}

func (w *textWriter) binary(b []byte) {
	shown := b
	if w.limit > 0 && len(b) > hexBytes {
		shown = b[:hexBytes]
	}
	if len(b) == 1 {
		w.text("1 byte")
	} else {
		w.b = fmt.Appendf(w.b, "%d bytes", len(b))
	}
	if len(b) > 0 {
		w.text(": ")
		w.b = hex.AppendEncode(w.b, shown)
	}
	if len(shown) < len(b) {
		w.text(more)
	}
}

func (w *textWriter) list(v value) {
	w.text("[")
	w.items(v.to-v.from, "values", func(i int) {
		w.value(at(v.items, v.field, v.from+i))
	})
	w.text("]")
}

// items writes the parts of a list or map, or the first of them and how many
// there are.
func (w *textWriter) items(n int, what string, item func(i int)) {
	shown, end := n, ""
	if w.limit > 0 && n > maxItems {
		shown, end = shownItems, fmt.Sprintf(", %s %d %s", more, n, what)
	}
	for i := 0; i < shown && !w.full(); i++ {
		before := len(w.b)
		w.separate(i)
		item(i)
		// How many there are is worth more than one part more.
		if end != "" && i > 0 && len(w.b)+len(end)+1 > w.limit {
			w.b = w.b[:before]
			break
		}
	}
	w.text(end)
}

func (w *textWriter) structure(v value) {
	w.text("{")
	for k := range v.members() {
		if w.full() {
			return
		}
		w.separate(k)
		a, f := v.member(k)
		w.b = strconv.AppendQuote(w.b, f.Name)
		w.text(": ")
		w.value(at(a, f, v.from))
	}
	w.text("}")
}

func (w *textWriter) mapping(v value) {
	keys, values, kf, vf := v.entries()
	w.text("{")
	w.items(v.to-v.from, "entries", func(i int) {
		w.value(at(keys, kf, v.from+i))
		w.text(": ")
		w.value(at(values, vf, v.from+i))
	})
	w.text("}")
}

func (w *textWriter) separate(i int) {
	if i > 0 {
		w.text(", ")
	}
}
