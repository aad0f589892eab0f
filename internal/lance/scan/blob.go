package scan

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// converter puts the bytes of blobs in the place of their descriptors, and text in
// that of stored JSON.
type converter struct {
	scan  *Scan
	bases *bases
	part  columnPart
	// left is how many bytes may still be taken.
	left int64
}

// blob is the bytes of one value.
type blob struct {
	null bool
	// at is the zero place for bytes in the data file itself.
	at   place
	span datafile.Span
	// whole: all of the object, whose size is not known before it is opened.
	whole bool
}

// convert replaces what is wanted in another form in an array that is read for a shape.
func (b *converter) convert(ctx context.Context, s *shape, d arrow.ArrayData) (arrow.ArrayData, error) {
	switch {
	case !s.converted():
		return d, nil
	case s.node.converted() && s.node.text:
		text, err := jsonText(d, b.left)
		if err == nil {
			b.left -= column.SizeOf(text)
		}
		return text, err
	case s.node.converted():
		blobs, err := b.describe(s, d)
		if err != nil {
			return nil, err
		}
		return b.fetch(ctx, blobs)
	}
	kids := make([]arrow.ArrayData, len(d.Children()))
	fields := make([]arrow.Field, len(kids))
	for i, c := range d.Children() {
		var err error
		if kids[i], err = b.convert(ctx, s.kids[i], c); err != nil {
			return nil, err
		}
		fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: kids[i].DataType(), Nullable: true}
		if k := s.kids[i].node; k != nil {
			fields[i] = k.arrow()
			fields[i].Type = kids[i].DataType()
		}
	}
	return array.NewData(withKids(d.DataType(), fields), d.Len(), d.Buffers(), kids, d.NullN(), d.Offset()), nil
}

// describe reads descriptors.
func (b *converter) describe(s *shape, d arrow.ArrayData) ([]blob, error) {
	a, ok := array.MakeFromData(d).(*array.Struct)
	if !ok {
		return nil, fmt.Errorf("%w: descriptors of blobs are of type %s", errCorrupt, d.DataType())
	}
	defer a.Release()
	out := make([]blob, a.Len())
	v2 := s.node.field.Blob == table.BlobV2
	var get func(i int) (blob, error)
	switch {
	case v2:
		x, err := newDescriptors(a)
		if err != nil {
			return nil, err
		}
		get = func(i int) (blob, error) { return b.resolve(x.at(i)) }
	default:
		pos, ok1 := a.Field(0).(*array.Uint64)
		size, ok2 := a.Field(1).(*array.Uint64)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("%w: descriptors of blobs are of type %s", errCorrupt, d.DataType())
		}
		get = func(i int) (blob, error) {
			// Version 2.0 knows no null struct: a null has position 1 and no bytes.
			null := pos.IsNull(i) || size.IsNull(i) || pos.Value(i) == 1 && size.Value(i) == 0
			return blob{null: null, span: datafile.Span{Pos: pos.Value(i), Size: size.Value(i)}}, nil
		}
	}
	for i := range out {
		if a.IsNull(i) {
			out[i].null = true
			continue
		}
		var err error
		if out[i], err = get(i); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}

// fetch reads the bytes of blobs into an array.
func (b *converter) fetch(ctx context.Context, blobs []blob) (arrow.ArrayData, error) {
	if err := b.measure(ctx, blobs); err != nil {
		return nil, err
	}
	offsets := make([]int64, 1, len(blobs)+1)
	valid := make([]byte, bitutil.BytesForBits(int64(len(blobs))))
	nulls := 0
	var total int64
	for i, x := range blobs {
		if x.null {
			nulls++
		} else {
			bitutil.SetBit(valid, i)
			if x.span.Size > uint64(b.left) || total+int64(x.span.Size) > b.left {
				return nil, fmt.Errorf("%w: blobs of more than %d bytes", column.ErrLimit, b.left)
			}
			total += int64(x.span.Size)
		}
		offsets = append(offsets, total)
	}
	b.left -= total
	data := make([]byte, total)
	if err := b.load(ctx, blobs, data, offsets); err != nil {
		return nil, err
	}
	bufs := []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(offsets)), memory.NewBufferBytes(data)}
	if nulls == 0 {
		bufs[0] = nil
	}
	return array.NewData(arrow.BinaryTypes.LargeBinary, len(blobs), bufs, nil, nulls, 0), nil
}

// measure finds the sizes of whole objects.
func (b *converter) measure(ctx context.Context, blobs []blob) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxRequests)
	for i := range blobs {
		x := &blobs[i]
		if !x.whole {
			continue
		}
		g.Go(func() error {
			r, err := x.at.store.Open(ctx, x.at.name)
			if err != nil {
				return fmt.Errorf("blob %s: %w", x.at.label, err)
			}
			defer r.Close()
			size := uint64(r.Entry().Size)
			if x.span.Pos > size {
				return fmt.Errorf("blob %s: %w: position %d of %d bytes", x.at.label, errCorrupt, x.span.Pos, size)
			}
			x.span.Size = size - x.span.Pos
			return nil
		})
	}
	return g.Wait()
}

// load copies the bytes of blobs to their offsets, file by file.
func (b *converter) load(ctx context.Context, blobs []blob, data []byte, offsets []int64) error {
	files := make(map[string][]int) // by label, "" for the data file
	var order []place
	for i, x := range blobs {
		if x.null || x.span.Size == 0 {
			continue
		}
		if files[x.at.label] == nil {
			order = append(order, x.at)
		}
		files[x.at.label] = append(files[x.at.label], i)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxRequests)
	for _, at := range order {
		g.Go(func() error {
			src, name := b.part.src, b.part.place.label
			if at.label != "" {
				name = at.label
				r, err := at.store.Open(ctx, at.name)
				if err != nil {
					return fmt.Errorf("blob %s: %w", at.label, err)
				}
				defer r.Close()
				src = newSource(r, b.scan.slots, &b.scan.waits)
			}
			spans := make([]datafile.Span, 0, len(files[at.label]))
			for _, i := range files[at.label] {
				spans = append(spans, blobs[i].span)
			}
			got, err := src.Fetch(ctx, spans)
			if err != nil {
				return fmt.Errorf("blobs in %s: %w", name, err)
			}
			for k, i := range files[at.label] {
				copy(data[offsets[i]:offsets[i+1]], got[k])
			}
			return nil
		})
	}
	return g.Wait()
}
