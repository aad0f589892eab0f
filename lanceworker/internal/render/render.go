// Package render writes values of Lance tables for people and for scripts: the
// sample rows on admin's page and what `weed lance head` prints. There are two
// styles.
//
// # Text
//
// One line for each value, whatever it holds: control characters and invalid
// UTF-8 are escaped. Nested values look like JSON, with null where there is none.
// A list of more than 8 values shows its first 4 and how many there are:
//
//	[0.1, 0.2, 0.3, 0.4, … 768 values]
//
// Binary is its length and the first bytes in hexadecimal, a long string its
// beginning and its length. What is left out is always marked by "…".
//
// # JSON
//
//   - integers as numbers, of any size; floats as numbers that read back as the
//     same value, with ".0" where they are whole;
//   - NaN and infinities as the strings "NaN", "Infinity" and "-Infinity";
//   - decimals as strings with all their digits: "12.30";
//   - dates, times and timestamps as ISO 8601 strings; a timestamp with a zone has its
//     offset, one without has none; durations as "PT1.5S";
//   - lists as arrays, structs as objects, a map as an array of
//     {"key":…,"value":…};
//   - binary as {"bytes":n,"base64":"…"};
//   - dictionaries and extensions as the values that they stand for, a column of
//     JSON as the text of its documents.
//
// Unless the whole value is asked for, a string of more than 256 bytes ends in
// "… (n bytes)", the base64 of more than 48 bytes in "…", and an array of more than
// 16 elements is its first 8 and the string "… n values".
package render

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// more marks what was left out.
const more = "…"

// shape tells which of the fields of a value count.
type shape int

const (
	isNull shape = iota
	// isLiteral is text that both styles take as it is: numbers, true, false.
	isLiteral
	// isWord is text that JSON puts into quotes and a person needs none around.
	isWord
	isString
	isBinary
	isList
	isStruct
	isMap
)

// value is one value taken apart.
type value struct {
	shape shape
	text  string
	bytes []byte
	// items hold a list's elements or a map's entries from from to to, or are the
	// struct itself, whose row is from.
	items    arrow.Array
	field    arrow.Field
	from, to int
}

// at takes row i of an array apart. The field says what the array's type alone
// does not.
func at(a arrow.Array, f arrow.Field, i int) value {
	if a.IsNull(i) {
		return value{shape: isNull}
	}
	switch a := a.(type) {
	case *array.Null:
		return value{shape: isNull}
	case *array.Dictionary:
		return at(a.Dictionary(), f, a.GetValueIndex(i))
	case array.ExtensionArray:
		return at(a.Storage(), f, i)
	case *array.Map:
		from, to := a.ValueOffsets(i)
		return value{shape: isMap, items: a.ListValues(), from: int(from), to: int(to)}
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		return value{shape: isList, items: a.ListValues(), field: element(a.DataType()), from: int(from), to: int(to)}
	case *array.Struct:
		return value{shape: isStruct, items: a, from: i}
	}
	return leaf(a, f, i)
}

// element is the field of a list's elements.
func element(t arrow.DataType) arrow.Field {
	if l, ok := t.(arrow.ListLikeType); ok {
		return l.ElemField()
	}
	return arrow.Field{}
}

// entries are the keys and the values of a map, with their fields.
func (v value) entries() (keys, values arrow.Array, kf, vf arrow.Field) {
	s := v.items.(*array.Struct)
	t := s.DataType().(*arrow.StructType)
	return s.Field(0), s.Field(1), t.Field(0), t.Field(1)
}

// member is one field of a struct. Its values are at the struct's own rows.
func (v value) member(k int) (arrow.Array, arrow.Field) {
	s := v.items.(*array.Struct)
	return s.Field(k), s.DataType().(*arrow.StructType).Field(k)
}

func (v value) members() int { return v.items.(*array.Struct).NumField() }
