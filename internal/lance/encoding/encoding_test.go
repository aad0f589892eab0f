package encoding

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func TestOpenByVersion(t *testing.T) {
	for _, c := range []struct {
		major, minor uint32
		err          error
	}{
		{0, 3, nil}, {2, 0, nil}, {2, 1, nil}, {2, 2, nil},
		{2, 3, column.ErrUnsupported}, {0, 1, column.ErrUnsupported}, {0, 2, column.ErrUnsupported}, {3, 0, column.ErrUnsupported},
	} {
		f := &datafile.File{Major: c.major, Minor: c.minor, Descriptor: &pb.FileDescriptor{}, Columns: []*pb.ColumnMetadata{{}}}
		r, err := Open(f, column.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32})
		if !errors.Is(err, c.err) {
			t.Errorf("%d.%d: %v", c.major, c.minor, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), "version") {
				t.Errorf("%d.%d: %v", c.major, c.minor, err)
			}
			continue
		}
		if r.Rows() != 0 {
			t.Errorf("%d.%d: %d rows", c.major, c.minor, r.Rows())
		}
	}
}
