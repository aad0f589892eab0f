package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/layout"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// errNotOne is that a table is not to be written as a file of a version.
var errNotOne = errors.New("not of this version")

// firstBlobs tells whether a fixture has blobs of the first kind.
func (f fixture) firstBlobs() bool { return strings.HasPrefix(f.name, "blob ") }

// holds is what is wanted of a fixture: of blobs in a lone file their bytes.
func (x rewritten) holds() (*matrix.Want, error) {
	if x.firstBlobs() && !x.same {
		return matrix.ReadFile(filepath.Join(x.dir, "bytes.arrow"))
	}
	return matrix.ReadFile(filepath.Join(x.dir, "want.arrow"))
}

// write writes the file, and reads it back.
func (x *rewritten) write(t *testing.T) error {
	f, v, path := x.fixture, x.version, x.path
	ctx := t.Context()
	tbl := open(t, filepath.Join(f.dir, "t"))
	x.same = tbl.FileVersion() == v
	if strings.HasPrefix(f.name, "blob") && v == table.V2_2 && !x.same || strings.HasPrefix(f.name, "blob2") && !x.same {
		return errNotOne // which have other blobs
	}
	if f.firstBlobs() && tbl.FileVersion() == table.V2_2 {
		return errNotOne // which are of the second kind there
	}
	s, err := scan.Open(ctx, tbl, scan.Options{StoredJSON: true, BlobBytes: f.firstBlobs()})
	if err != nil {
		return err
	}
	defer s.Close()
	store, err := dirstore.New(filepath.Dir(path), dirstore.Options{NoSync: true})
	if err != nil {
		return err
	}
	defer store.Close()
	out, err := store.Create(ctx, filepath.Base(path))
	if err != nil {
		return err
	}
	defer out.Abort()
	schema := &pb.Schema{Fields: tbl.Manifest().GetFields(), Metadata: tbl.Manifest().GetSchemaMetadata()}
	var o encoding.WriterOptions
	if x.same && v != table.V2_0 {
		if o.Layers, err = layersOf(ctx, filepath.Join(f.dir, "t", "data")); err != nil {
			return err
		}
	}
	w, err := encoding.NewWriter(datafile.NewWriter(out, nil), v, schema, o)
	if err != nil {
		return err
	}
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		err = w.Write(ctx, b)
		x.rows += b.NumRows()
		b.Release()
		if err != nil {
			return err
		}
	}
	if _, err := w.Finish(ctx); err != nil {
		return err
	}
	return x.readBack(ctx, store, filepath.Base(path))
}

// layersOf is what the data files of a table of one column say of null structs.
func layersOf(ctx context.Context, dir string) (map[int][]pb.PageLayout_Layer, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.lance"))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	store, err := dirstore.New(dir, dirstore.Options{NoSync: true})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	pages := map[int][]*pb.ColumnMetadata_Page{}
	for _, n := range names {
		file, err := datafile.Open(ctx, store, filepath.Base(n))
		if err != nil {
			return nil, err
		}
		for i, c := range file.Columns {
			pages[i] = append(pages[i], c.GetPages()...)
		}
		file.Close()
	}
	out := map[int][]pb.PageLayout_Layer{}
	for i, p := range pages {
		if out[i], err = layout.LayersOf(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readBack compares what this module reads from the file.
func (x *rewritten) readBack(ctx context.Context, store *dirstore.Store, name string) error {
	want, err := x.holds()
	if err != nil {
		return err
	}
	file, err := datafile.Open(ctx, store, name)
	if err != nil {
		return err
	}
	defer file.Close()
	tree, err := table.FieldsOf(file.Descriptor.GetSchema().GetFields())
	if err != nil {
		return err
	}
	x.fields = encoding.ColumnFields(tree, x.version)
	fields, _ := encoding.Place(tree, x.version)
	for _, field := range fields {
		r, err := encoding.Open(file, field)
		if err != nil {
			return err
		}
		a, err := r.Read(ctx, spans{file}, 0, r.Rows(), 1<<30)
		if err != nil {
			return err
		}
		if field.Name == "c" && (strings.Contains(x.name, "json") || x.firstBlobs()) {
			continue // which are wanted as text, and as bytes
		}
		if err := want.Diff([]string{field.Name}, 0, a); err != nil {
			return fmt.Errorf("read back: %w", err)
		}
	}
	return nil
}

// spans reads a file as it is asked for.
type spans struct{ *datafile.File }

func (s spans) Fetch(ctx context.Context, spans []datafile.Span) ([][]byte, error) {
	out := make([][]byte, len(spans))
	for i, x := range spans {
		out[i] = make([]byte, x.Size)
		if err := s.Reader.ReadAt(ctx, out[i], int64(x.Pos)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var _ column.Source = spans{}

// compare compares the columns that Lance read with what the fixture holds.
func (x rewritten) compare() error {
	want, err := x.holds()
	if err != nil {
		return err
	}
	for i, field := range want.Schema.Fields() {
		got, err := matrix.ReadFile(fmt.Sprintf("%s.%d.arrow", x.path, i))
		if err != nil {
			return err
		}
		if got.Rows != want.Rows {
			return fmt.Errorf("%d rows of column %s, want %d", got.Rows, field.Name, want.Rows)
		}
		err = got.Each(func(name string, from int64, a arrow.Array) error {
			if strings.Contains(x.name, "json") && name == "c" && !x.same {
				return nil // a lone file has it as it is stored
			}
			if x.firstBlobs() && x.same && name == "c" {
				return nil // descriptors of bytes that lie elsewhere by now
			}
			return want.Diff([]string{name}, from, a)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
