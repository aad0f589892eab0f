package layout

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/block"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// encode makes the page of what was collected.
func (l *leafWriter) encode(lv *level.Levels) (*pb.PageLayout, [][]byte, error) {
	if l.blob && l.values != nil && isDescriptorV1(l.typ) {
		return l.encodeBlobs(lv)
	}
	v := l.values
	if l.parts != nil {
		v = l.parts.Whole(&l.memory)
	}
	return l.encodeValues(lv, v)
}

// encodeValues chooses the layout of a page.
func (l *leafWriter) encodeValues(lv *level.Levels, v *block.Values) (*pb.PageLayout, [][]byte, error) {
	switch {
	case v == nil && lv.Valid > 0 && column.Storage(l.typ).ID() == arrow.STRUCT:
		return emptyStructs(lv)
	case v == nil || lv.Valid == 0 && (l.minor >= 2 || lv.Rep == nil || lv.Visible == 0):
		return nulls(lv, l.minor)
	}
	// In lists of a 2.1 file nulls are values like others: Lance 4 counts the rows of a page without values wrongly.
	if v.N != lv.Visible {
		return nil, nil, fmt.Errorf("%d values for %d places", v.N, lv.Visible)
	}
	if l.words != nil {
		if l.words.values.N == 0 { // all are null; their indices have to lead somewhere
			if err := l.words.values.AppendNulls(1); err != nil {
				return nil, nil, err
			}
		}
		return l.miniBlock(lv, v, l.words.values, l.opts.ForIndices())
	}
	if l.structural == "" && l.minor >= 2 {
		if layout, buffers, ok := oneValue(lv, v, l.opts.OffsetBits); ok {
			return layout, buffers, nil
		}
	}
	if dict, indices, ok := block.BuildDictionary(v, l.opts); ok {
		layout, buffers, err := l.miniBlock(lv, indices, dict, l.opts.ForIndices())
		if !errors.Is(err, errTooLarge) {
			return layout, buffers, err
		}
	}
	if l.narrow(v) || l.structural == "" && misreadZipped(lv) {
		layout, buffers, err := l.miniBlock(lv, v, nil, l.opts)
		if !errors.Is(err, errTooLarge) {
			return layout, buffers, err
		}
	}
	return l.fullZip(lv, v)
}

// narrowBytes is the length from which on values are zipped with their levels one by one.
const narrowBytes = 256

// misreadZipped tells of levels next to which Lance 10 and before misread values of different lengths: lists with more than three ways
// not to have a value. Values that are not too long for it go into chunks then, whatever their length.
func misreadZipped(lv *level.Levels) bool { return lv.Rep != nil && lv.MaxDef > 3 }

// narrow tells whether values go into chunks.
func (l *leafWriter) narrow(v *block.Values) bool {
	if v.Kind == block.Struct {
		// Chunks have structs of plain values, full-zip pages all others.
		return !slices.ContainsFunc(v.Fields, func(f *block.Values) bool { return f.Kind != block.Fixed })
	}
	if v.Kind == block.Fixed && v.Bits == 1 {
		return true // zipped, each would take a byte
	}
	if v.Kind == block.List && !block.Zippable(v) {
		return true // whatever the column asks for
	}
	switch l.structural {
	case "miniblock":
		return true
	case "fullzip":
		return false
	}
	return longest(v) < narrowBytes
}

// longest is the length of the longest value in bytes.
func longest(v *block.Values) int64 {
	switch v.Kind {
	case block.Variable:
		most := int64(0)
		for i, end := range v.Offsets[1:] {
			most = max(most, end-v.Offsets[i])
		}
		return most
	case block.List:
		return (itemBits(v) + 7) / 8
	}
	return int64(v.Bits+7) / 8
}

// itemBits is the width of a value of one width.
func itemBits(v *block.Values) int64 {
	if v.Kind == block.List {
		return int64(v.Dim) * itemBits(v.Items)
	}
	return int64(v.Bits)
}
