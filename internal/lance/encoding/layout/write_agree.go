package layout

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// LayersOf is what pages of a column, of one file or several, together say of null structs: what WriteOptions.Layers wants of
// who writes the rows of these pages anew. Nil when there are no pages. Without it a column of lists within structs has levels for null
// structs also where there are none, which costs up to a tenth of small values.
func LayersOf(pages []*pb.ColumnMetadata_Page) ([]pb.PageLayout_Layer, error) {
	var out []pb.PageLayout_Layer
	for _, p := range pages {
		l, err := layoutOf(p)
		if err != nil {
			return nil, err
		}
		layers := layersOf(l)
		if out == nil {
			out = append(out, layers...)
		}
		if len(layers) != len(out) {
			return nil, corrupt("pages of %d and of %d layers in one column", len(out), len(layers))
		}
		for i, x := range layers {
			if x == pb.PageLayout_NULLABLE_ITEM {
				out[i] = x
			}
		}
	}
	return out, nil
}

func layersOf(l *pb.PageLayout) []pb.PageLayout_Layer {
	switch l := l.GetLayout().(type) {
	case *pb.PageLayout_MiniBlock_:
		return l.MiniBlock.GetLayers()
	case *pb.PageLayout_FullZip_:
		return l.FullZip.GetLayers()
	case *pb.PageLayout_Constant_:
		return l.Constant.GetLayers()
	case *pb.PageLayout_Blob_:
		return l.Blob.GetLayers()
	}
	return nil
}
