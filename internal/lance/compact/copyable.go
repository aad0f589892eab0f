package compact

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Numbers inside the encoding messages, as far as copying has to know them.
const (
	anyURL, anyValue = 1, 2
	// ColumnEncoding: the only kind whose data lies in the pages.
	columnValues = 1
	// ArrayEncoding of 2.0.
	arrayStruct = 5
	// PageLayout of 2.1 on.
	layoutMiniBlock, layoutConstant, layoutFullZip = 1, 2, 3
)

// copyable tells whether a column's pages mean the same at another place of
// another file: what they need lies in their own buffers.
func copyable(c *pb.ColumnMetadata) error {
	if n := len(c.GetBufferOffsets()); n > 0 {
		return fmt.Errorf("%w: it has %d buffers of its own", errUncopyable, n)
	}
	kind, err := encodingKind(c.GetEncoding(), "ColumnEncoding")
	if err != nil {
		return err
	}
	if kind != columnValues {
		return fmt.Errorf("%w: column encoding %d keeps data outside the pages", errUncopyable, kind)
	}
	for i, p := range c.GetPages() {
		if err := copyablePage(p.GetEncoding()); err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
	}
	return nil
}

func copyablePage(e *pb.Encoding) error {
	url, _, err := unpack(e)
	if err != nil {
		return err
	}
	switch typeName(url) {
	case arrayEncoding: // 2.0: buffers by number, of the page unless the column has some
		return nil
	case "PageLayout":
		kind, err := encodingKind(e, "PageLayout")
		if err != nil {
			return err
		}
		switch kind {
		case layoutMiniBlock, layoutConstant, layoutFullZip:
			return nil
		}
		return fmt.Errorf("%w: page layout %d", errUncopyable, kind)
	}
	return fmt.Errorf("%w: page encoding %q", errUncopyable, url)
}

// arrayEncoding is the message that describes pages of 2.0.
const arrayEncoding = "ArrayEncoding"

// structHeader tells whether a page of 2.0 is a struct's own, without values.
func structHeader(e *pb.Encoding) (bool, error) {
	url, _, err := unpack(e)
	if err != nil || typeName(url) != arrayEncoding {
		return false, err
	}
	kind, err := encodingKind(e, arrayEncoding)
	return kind == arrayStruct, err
}

// encodingKind is the number of the one field that an encoding message sets.
func encodingKind(e *pb.Encoding, want string) (protowire.Number, error) {
	url, value, err := unpack(e)
	if err != nil {
		return 0, err
	}
	if typeName(url) != want {
		return 0, fmt.Errorf("%w: encoding %q where a %s is expected", errUncopyable, url, want)
	}
	n, _, size := protowire.ConsumeField(value)
	if size < 0 || size != len(value) {
		return 0, fmt.Errorf("%w: a %s of %d bytes that is not one field", errUncopyable, want, len(value))
	}
	return n, nil
}

// unpack takes an inline encoding apart into the type and bytes of its message.
func unpack(e *pb.Encoding) (url string, value []byte, err error) {
	d := e.GetDirect()
	if d == nil {
		return "", nil, fmt.Errorf("%w: its encoding is not inline", errUncopyable)
	}
	for b := d.GetEncoding(); len(b) > 0; {
		n, typ, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return "", nil, fmt.Errorf("%w: encoding message: %v", errUncopyable, protowire.ParseError(tag))
		}
		if typ != protowire.BytesType {
			return "", nil, fmt.Errorf("%w: encoding message with field %d", errUncopyable, n)
		}
		v, size := protowire.ConsumeBytes(b[tag:])
		if size < 0 {
			return "", nil, fmt.Errorf("%w: encoding message: %v", errUncopyable, protowire.ParseError(size))
		}
		switch n {
		case anyURL:
			url = string(v)
		case anyValue:
			value = v
		}
		b = b[tag+size:]
	}
	return url, value, nil
}

// typeName is the last component of a type URL.
func typeName(url string) string {
	return url[strings.LastIndexAny(url, "./")+1:]
}
