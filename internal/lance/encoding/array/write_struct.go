package array

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// structWriter hands the fields of a struct on. Its own column says how many structs
// there are.
type structWriter struct {
	of     *writer
	column int
	path   string
	typ    arrow.DataType
	kids   []writeNode
	// rows that are in no page yet. There is a page even when there are no rows.
	rows int
	said bool
}

func (s *structWriter) write(p piece) error {
	// Nowhere could be said that a struct is null. Lance up to 4 loses it, with 14 it is an error.
	if n := p.nulls(); n > 0 {
		return fmt.Errorf("%s: %w: %d of %s are null, which version 2.0 can't tell", s.path, column.ErrUnsupported, n, s.typ)
	}
	for i, k := range s.kids {
		if err := k.write(p.kid(i, 1)); err != nil {
			return err
		}
	}
	s.rows += p.n
	return nil
}

func (s *structWriter) flush() error {
	if s.rows > 0 || !s.said {
		enc := &pb.ArrayEncoding{Encoding: &pb.ArrayEncoding_Struct_{Struct: &pb.ArrayEncoding_Struct{}}}
		if err := s.of.page(s.column, s.rows, enc, nil); err != nil {
			return err
		}
		s.rows, s.said = 0, true
	}
	for _, k := range s.kids {
		if err := k.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (s *structWriter) held() int64 {
	var n int64
	for _, k := range s.kids {
		n += k.held()
	}
	return n
}
