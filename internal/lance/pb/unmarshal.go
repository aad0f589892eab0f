package pb

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Unmarshal decodes a message of this package. Fields that it does not know are kept, as newer writers have them. A field that it
// knows, with the wire type of another kind of value, is an error: Go's decoder takes it for one that it does not know, and so for
// absent, where every other reader of Lance refuses the message. One flipped bit would bring deleted rows back.
func Unmarshal(b []byte, m proto.Message) error {
	if err := proto.Unmarshal(b, m); err != nil {
		return err
	}
	return checkWire(m.ProtoReflect())
}

// inner are, by message descriptor, the fields that hold messages.
var inner sync.Map

func innerOf(d protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if have, ok := inner.Load(d); ok {
		return have.([]protoreflect.FieldDescriptor)
	}
	var out []protoreflect.FieldDescriptor
	for i := range d.Fields().Len() {
		if f := d.Fields().Get(i); f.Message() != nil && !f.IsMap() { // those in maps, of transactions alone, go unchecked
			out = append(out, f)
		}
	}
	inner.Store(d, out)
	return out
}

// checkWire looks for known fields among those that were not decoded, in a message and all that is in it. How deep messages
// lie in each other the decoder has limited already.
func checkWire(m protoreflect.Message) error {
	d := m.Descriptor()
	for rest := m.GetUnknown(); len(rest) > 0; {
		number, kind, n := protowire.ConsumeField(rest)
		if n < 0 {
			return fmt.Errorf("message %s: %w", d.Name(), protowire.ParseError(n))
		}
		if f := d.Fields().ByNumber(number); f != nil {
			return fmt.Errorf("field %s of message %s has wire type %d, which is that of other kinds of values", f.Name(), d.Name(), kind)
		}
		rest = rest[n:]
	}
	for _, f := range innerOf(d) {
		if !m.Has(f) {
			continue
		}
		if !f.IsList() {
			if err := checkWire(m.Get(f).Message()); err != nil {
				return err
			}
			continue
		}
		for list, i := m.Get(f).List(), 0; i < list.Len(); i++ {
			if err := checkWire(list.Get(i).Message()); err != nil {
				return err
			}
		}
	}
	return nil
}
