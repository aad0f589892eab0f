package encoding

import (
	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/array"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// Place gives fields the columns that a file of a version has for them, one after the other: in 2.0 each node has
// one, later the leaves. It returns their number, too.
func Place(tree []*table.Field, version table.FileVersion) (fields []column.Field, columns int) {
	for _, f := range tree {
		x := fieldOf(f)
		if version == table.V2_0 {
			x = array.Place(x, &columns)
		} else {
			x = placeLeaves(x, &columns)
		}
		fields = append(fields, x)
	}
	return fields, columns
}

// fieldOf is a field without a column.
func fieldOf(f *table.Field) column.Field {
	x := column.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable, Column: column.Absent, Packed: f.Packed,
		Blob: f.Blob != table.NoBlob, Metadata: arrow.MetadataFrom(f.Metadata)}
	if x.Packed || x.Blob {
		return x // one column for all of it
	}
	for _, c := range f.Children {
		x.Children = append(x.Children, fieldOf(c))
	}
	return x
}

func placeLeaves(f column.Field, next *int) column.Field {
	if len(f.Children) == 0 {
		f.Column = *next
		*next++
	}
	for i, c := range f.Children {
		f.Children[i] = placeLeaves(c, next)
	}
	return f
}

// ColumnFields are the ids of the fields that have a column, in the order of the columns that Place gives: what a data file's
// entry in a manifest lists.
func ColumnFields(tree []*table.Field, version table.FileVersion) (ids []int32) {
	for _, f := range tree {
		leaf := len(f.Children) == 0 || f.Packed || f.Blob != table.NoBlob
		if leaf || version == table.V2_0 {
			ids = append(ids, f.ID)
		}
		if !leaf {
			ids = append(ids, ColumnFields(f.Children, version)...)
		}
	}
	return ids
}

// Footer is how the footer of a file spells its version: 2.0 as Lance's own writer does.
func Footer(v table.FileVersion) (major, minor uint16) {
	if v == table.V2_0 {
		return 0, 3
	}
	return uint16(v.Major), uint16(v.Minor)
}

// PlainColumn is the encoding of a column whose data lies in its pages.
func PlainColumn() (*pb.Encoding, error) {
	return column.Pack("/lance.encodings.ColumnEncoding", &pb.ColumnEncoding{Encoding: &pb.ColumnEncoding_Values{Values: new(emptypb.Empty)}})
}

// newColumns makes the columns of fields, without pages yet.
func newColumns(fields []column.Field, n int, version table.FileVersion) ([]*pb.ColumnMetadata, error) {
	plain, err := PlainColumn()
	if err != nil {
		return nil, err
	}
	out := make([]*pb.ColumnMetadata, n)
	for i := range out {
		out[i] = &pb.ColumnMetadata{Encoding: plain}
	}
	if version == table.V2_0 {
		err = ofArrays(out, fields)
	}
	return out, err
}

// ofArrays says of the columns of a 2.0 file which hold blobs.
func ofArrays(columns []*pb.ColumnMetadata, fields []column.Field) error {
	for _, f := range fields {
		e, err := array.ColumnEncoding(f)
		if err != nil {
			return err
		}
		columns[f.Column].Encoding = e
		if err := ofArrays(columns, f.Children); err != nil {
			return err
		}
	}
	return nil
}

// addPage adds a page to a column: in 2.0 those of a struct's own column become one.
func addPage(c *pb.ColumnMetadata, p *pb.ColumnMetadata_Page, version table.FileVersion) error {
	if version == table.V2_0 {
		return array.AppendPage(c, p)
	}
	c.Pages = append(c.Pages, p)
	return nil
}
