package scan

import (
	"fmt"
	"math/bits"
	"net/url"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Kinds of blobs of the second form, as they are stored.
const (
	blobInline    = 0 // in the data file
	blobPacked    = 1 // with others in a file beside it
	blobDedicated = 2 // alone in a file beside it
	blobExternal  = 3 // anywhere
	blobManaged   = 4 // shared by many rows
)

// descriptor says where the bytes of a blob are.
type descriptor struct {
	kind uint8
	pos  uint64
	size uint64
	id   uint32
	uri  string
}

type descriptors struct {
	kind      *array.Uint8
	pos, size *array.Uint64
	id        *array.Uint32
	uri       *array.String
}

func newDescriptors(a *array.Struct) (*descriptors, error) {
	d := new(descriptors)
	ok := a.NumField() == 5
	if ok {
		var k [5]bool
		d.kind, k[0] = a.Field(0).(*array.Uint8)
		d.pos, k[1] = a.Field(1).(*array.Uint64)
		d.size, k[2] = a.Field(2).(*array.Uint64)
		d.id, k[3] = a.Field(3).(*array.Uint32)
		d.uri, k[4] = a.Field(4).(*array.String)
		ok = k == [5]bool{true, true, true, true, true}
	}
	if !ok {
		return nil, fmt.Errorf("%w: descriptors of blobs are of type %s", errCorrupt, a.DataType())
	}
	return d, nil
}

func (d *descriptors) at(i int) descriptor {
	return descriptor{kind: d.kind.Value(i), pos: d.pos.Value(i), size: d.size.Value(i), id: d.id.Value(i), uri: d.uri.Value(i)}
}

// sidecarName is the name of a file of blobs beside a data file: the bits of its id, the
// lowest first.
func sidecarName(id uint32) string { return fmt.Sprintf("%032b.blob", bits.Reverse32(id)) }

// resolve finds the place of a blob's bytes.
func (b *converter) resolve(d descriptor) (blob, error) {
	x := blob{span: datafile.Span{Pos: d.pos, Size: d.size}}
	switch d.kind {
	case blobInline:
	case blobPacked, blobDedicated:
		x.at = b.part.place.sidecar(sidecarName(d.id))
	case blobExternal:
		at, err := b.external(d)
		if err != nil {
			return x, err
		}
		x.at, x.whole = at, d.size == 0
	case blobManaged:
		return x, fmt.Errorf("%w: a managed blob (kind %d, %q)", column.ErrUnsupported, d.kind, d.uri)
	default:
		return x, fmt.Errorf("%w: a blob of kind %d", column.ErrUnsupported, d.kind)
	}
	return x, nil
}

// external finds a blob that its descriptor names: relative to a base, or by a URI
// that has to lie in one. Anything else on this machine or elsewhere is not
// touched: whoever writes a table must not choose what its readers open.
func (b *converter) external(d descriptor) (place, error) {
	if d.id != 0 {
		s, e, err := b.bases.store(&d.id)
		if err != nil {
			return place{}, fmt.Errorf("external blob %q: %w", d.uri, err)
		}
		if err := objects.CheckName(d.uri); err != nil {
			return place{}, fmt.Errorf("external blob: %w: %v", errCorrupt, err)
		}
		return newPlace(s, d.uri, e), nil
	}
	wanted, err := rootPath(d.uri)
	if err != nil {
		return place{}, fmt.Errorf("external blob %q: %w: %v", d.uri, errCorrupt, err)
	}
	for id, e := range b.bases.entries {
		base, err := rootPath(e.GetPath())
		if err != nil {
			continue
		}
		name, ok := strings.CutPrefix(wanted, strings.TrimSuffix(base, "/")+"/")
		if !ok || objects.CheckName(name) != nil {
			continue
		}
		s, e, err := b.bases.store(&id)
		if err != nil {
			return place{}, fmt.Errorf("external blob %q: %w", d.uri, err)
		}
		return newPlace(s, name, e), nil
	}
	return place{}, fmt.Errorf("%w: external blob %q lies in none of the table's bases", table.ErrRefused, d.uri)
}

// rootPath is a path or URI with its scheme; that of local files is left out.
func rootPath(uri string) (string, error) {
	if !strings.Contains(uri, "://") {
		return uri, nil
	}
	u, err := url.Parse(uri)
	if err != nil {
		return "", err
	}
	if u.Scheme == "file" || u.Scheme == "file-object-store" {
		return u.Path, nil
	}
	return u.Scheme + "://" + u.Host + u.Path, nil
}
