package layout

import (
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// Pages describes the pages; one whose layout is not understood says so in its
// encoding.
func (r *reader) Pages() []column.PageInfo {
	var out []column.PageInfo
	for _, l := range r.leaves {
		for i, p := range l.meta {
			info := column.PageInfo{Column: l.column, Path: l.name, Page: i, Rows: l.starts[i+1] - l.starts[i]}
			for _, s := range p.GetBufferSizes() {
				info.Bytes += s
			}
			if m, err := layoutOf(p); err != nil {
				info.Layout, info.Encoding = "unknown", err.Error()
			} else {
				info.Layout, info.Encoding = kind(m), encoding(m)
			}
			out = append(out, info)
		}
	}
	return out
}

// kind names a layout.
func kind(l *pb.PageLayout) string {
	switch l.GetLayout().(type) {
	case *pb.PageLayout_MiniBlock_:
		return "mini-block"
	case *pb.PageLayout_FullZip_:
		return "full-zip"
	case *pb.PageLayout_Constant_:
		return "constant"
	case *pb.PageLayout_Blob_:
		return "blob"
	}
	return "unknown"
}

// encoding renders what a layout is made of.
func encoding(l *pb.PageLayout) string {
	var parts []string
	add := func(format, name string, e *pb.CompressiveEncoding) {
		if e != nil {
			parts = append(parts, fmt.Sprintf(format, name, block.Describe(e)))
		}
	}
	switch l := l.GetLayout().(type) {
	case *pb.PageLayout_MiniBlock_:
		add("%s%s", "", l.MiniBlock.GetValueCompression())
		add("%s(%s)", "dictionary", l.MiniBlock.GetDictionary())
		add("%s(%s)", "rep", l.MiniBlock.GetRepCompression())
		add("%s(%s)", "def", l.MiniBlock.GetDefCompression())
	case *pb.PageLayout_FullZip_:
		add("%s%s", "", l.FullZip.GetValueCompression())
		if b := l.FullZip.GetBitsRep(); b > 0 {
			parts = append(parts, fmt.Sprintf("rep(%d)", b))
		}
		if b := l.FullZip.GetBitsDef(); b > 0 {
			parts = append(parts, fmt.Sprintf("def(%d)", b))
		}
	case *pb.PageLayout_Constant_:
		if v := l.Constant.InlineValue; v != nil {
			parts = append(parts, fmt.Sprintf("value(%d bytes)", len(v)))
		}
		add("%s(%s)", "rep", l.Constant.GetRepCompression())
		add("%s(%s)", "def", l.Constant.GetDefCompression())
	case *pb.PageLayout_Blob_:
		parts = append(parts, kind(l.Blob.GetInner()), encoding(l.Blob.GetInner()))
	}
	return strings.Join(parts, ", ")
}
