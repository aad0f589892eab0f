package layout

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// layoutType is the name under which a page's layout lies in its metadata.
const layoutType = "lance.encodings21.PageLayout"

// page is one page, ready to be read. It does not change once loaded.
type page interface {
	// meta are the spans to load before anything else.
	meta() []datafile.Span
	// load takes their bytes.
	load(bufs [][]byte, limit int64) error
	// held is how many bytes of memory the page takes once loaded.
	held() int64
	// index are the spans that tell where the bytes of rows [from, to) lie; none
	// when that is known.
	index(from, to uint64) []datafile.Span
	// data are the spans of the values of rows [from, to).
	data(from, to uint64, index [][]byte) ([]datafile.Span, error)
	// read decodes rows [from, to) of the page, at least one.
	read(from, to uint64, bufs [][]byte, out *sink) error
}

// frame is what all layouts share.
type frame struct {
	path    level.Path
	meaning *level.Meaning
	buffers []datafile.Span
	// starts is how many slots start something in the outermost node: the rows,
	// unless rows are fixed-size lists.
	starts uint64
	// stride is how many of them make up one row.
	stride uint64
	// places: the values say where blobs of the second kind are.
	places bool
	// leads: the column is the first of those of the struct that it is in.
	leads bool
}

// layoutOf decodes the layout message of a page.
func layoutOf(p *pb.ColumnMetadata_Page) (*pb.PageLayout, error) {
	direct := p.GetEncoding().GetDirect()
	if direct == nil {
		return nil, unsupported("page layout outside of the column's metadata")
	}
	var any anypb.Any
	if err := pb.Unmarshal(direct.GetEncoding(), &any); err != nil {
		return nil, corrupt("page layout: %v", err)
	}
	if name := any.GetTypeUrl(); name[strings.LastIndexByte(name, '/')+1:] != layoutType {
		return nil, unsupported("page layout of type %q", name)
	}
	l := new(pb.PageLayout)
	if err := pb.Unmarshal(any.GetValue(), l); err != nil {
		return nil, corrupt("page layout: %v", err)
	}
	if l.GetLayout() == nil {
		return nil, unsupported("%s", unknownLayout(l))
	}
	return l, nil
}

// unknownLayout names a layout that later versions of the format have.
func unknownLayout(l *pb.PageLayout) string {
	number, _, n := protowire.ConsumeTag(l.ProtoReflect().GetUnknown())
	switch {
	case n < 0:
		return "a page without a layout"
	case number == 5:
		return "sparse layout"
	}
	return fmt.Sprintf("page layout %d", number)
}

// spansOf are the buffers of a page.
func spansOf(p *pb.ColumnMetadata_Page) []datafile.Span {
	s := make([]datafile.Span, len(p.GetBufferOffsets()))
	for i, pos := range p.GetBufferOffsets() {
		s[i] = datafile.Span{Pos: pos, Size: p.GetBufferSizes()[i]}
	}
	return s
}

// newPage makes the page that a layout describes.
func newPage(f frame, l *pb.PageLayout) (page, error) {
	switch l := l.GetLayout().(type) {
	case *pb.PageLayout_MiniBlock_:
		return newMiniBlock(f, l.MiniBlock)
	case *pb.PageLayout_FullZip_:
		return newFullZip(f, l.FullZip)
	case *pb.PageLayout_Constant_:
		return newConstant(f, l.Constant)
	case *pb.PageLayout_Blob_:
		return newBlob(f, l.Blob)
	}
	return nil, unsupported("page layout %T", l.GetLayout())
}
