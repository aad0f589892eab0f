// Package pbsize tells how much memory a decoded protobuf message takes, for caches that
// are bounded in bytes.
package pbsize

import (
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	word = 8
	// header is what a string takes besides its bytes, mapHead a map besides its slots.
	header  = 2 * word
	mapHead = 6 * word
	// class is about what the allocator adds to a block on average.
	class = word
)

// Of is about what a message and all it leads to takes. Bytes that several messages
// share are counted for each.
func Of(m proto.Message) int64 {
	if m == nil {
		return 0
	}
	return message(m.ProtoReflect())
}

func message(m protoreflect.Message) int64 {
	if !m.IsValid() {
		return 0
	}
	n := int64(reflect.TypeOf(m.Interface()).Elem().Size()) + class + int64(len(m.GetUnknown()))
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			n += mapHead + slots(v.Map().Len())*(1+inline(f.MapKey())+inline(f.MapValue()))
			v.Map().Range(func(k protoreflect.MapKey, x protoreflect.Value) bool {
				n += value(f.MapKey(), k.Value()) + value(f.MapValue(), x)
				return true
			})
		case f.IsList():
			list := v.List()
			n += class + inline(f)*int64(list.Len())
			for i := 0; i < list.Len() && !number(f); i++ {
				n += value(f, list.Get(i))
			}
		case f.ContainingOneof() != nil || f.HasPresence() && f.Message() == nil:
			n += word + class + value(f, v) // behind a pointer of its own
		default:
			n += value(f, v)
		}
		return true
	})
	return n
}

// slots is how many entries a map of n has room for: eight, or so many that an
// eighth of them stays free.
func slots(n int) int64 {
	room := int64(8)
	for n > 8 && room*7/8 < int64(n) {
		room *= 2
	}
	return room
}

// inline is what an element takes in a slice or map.
func inline(f protoreflect.FieldDescriptor) int64 {
	switch f.Kind() {
	case protoreflect.StringKind:
		return header
	case protoreflect.BytesKind:
		return header + word
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return word
	}
	return scalar(f)
}

// number tells that there is nothing behind a value.
func number(f protoreflect.FieldDescriptor) bool {
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return false
	}
	return true
}

// scalar is the size of a number.
func scalar(f protoreflect.FieldDescriptor) int64 {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return 1
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind, protoreflect.EnumKind:
		return 4
	}
	return word
}

// value is what a value takes besides the place where it stands.
func value(f protoreflect.FieldDescriptor, v protoreflect.Value) int64 {
	switch f.Kind() {
	case protoreflect.StringKind:
		return class + int64(len(v.String()))
	case protoreflect.BytesKind:
		return class + int64(len(v.Bytes()))
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return message(v.Message())
	}
	return 0
}
