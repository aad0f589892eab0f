package column

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Page is a page that was encoded and has to be written.
type Page struct {
	// Column of the file that it belongs to, behind the pages that the column has already.
	Column int
	// Length and Priority are those of the page's metadata: how many values there are, and the row of the
	// file at which it begins.
	Length, Priority uint64
	Encoding         *pb.Encoding
	// Buffers in the order that the encoding expects. They are good until Sink.Page returns.
	Buffers [][]byte
}

// Sink takes pages, and what else of a column is written to a file.
type Sink interface {
	// Page writes a page.
	Page(Page) error
	// Blob writes the bytes of a blob that its column's pages only refer to, and returns where they lie.
	Blob(b []byte) (pos uint64, err error)
}

// Writer encodes one top-level field of a file: the reverse of a Reader. It is not safe for concurrent use.
type Writer interface {
	// Append takes rows [from, to) of an array of the field's type, and writes the pages that are full.
	// The array may be released afterwards. After an error the writer is of no use. An error about
	// values of a kind that the file's version can't hold is ErrUnsupported and names field and type.
	Append(a arrow.Array, from, to int) error
	// Held is the memory of what was taken and not written yet, or is kept for what comes.
	Held() int64
	// Flush writes what was taken as pages, full or not, and gives the memory back.
	Flush() error
	// Skip tells that the next rows of the field are in pages that somebody else writes. It has to be
	// flushed before.
	Skip(rows uint64) error
}

// PageBytes is how many bytes of values a page has unless its writer is told otherwise.
const PageBytes = 8 << 20

// WriteOptions are those of a Writer.
type WriteOptions struct {
	// PageBytes is how many bytes of values, as Arrow has them, make a page full; 0 is the constant of that name. A page
	// ends with the row that fills it.
	PageBytes int64
	// PageRows, if not 0, has a page with fewer rows go on until it has as many, or its values MostBytes: for values that take
	// little room in the file. Version 2.0 ignores it.
	PageRows  uint64
	MostBytes int64
	// Layers of pages that a column gets from elsewhere, from the innermost outwards, by column. Those that are written have a level
	// for null structs where these have, as Lance can't read columns whose pages differ in that if there is a list
	// beneath; ErrDisagree when a struct is null where these have no level for it.
	Layers map[int][]pb.PageLayout_Layer
}

// ErrDisagree is wrapped by the error about null structs in a column that has pages from elsewhere which say that there
// are none.
var ErrDisagree = errors.New("null structs where other pages have none")

// Pack makes the encoding message of a page or column.
func Pack(url string, m proto.Message) (*pb.Encoding, error) {
	det := proto.MarshalOptions{Deterministic: true}
	value, err := det.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", url, err)
	}
	b, err := det.Marshal(&anypb.Any{TypeUrl: url, Value: value})
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", url, err)
	}
	return &pb.Encoding{Location: &pb.Encoding_Direct_{Direct: &pb.Encoding_Direct{Encoding: b}}}, nil
}
