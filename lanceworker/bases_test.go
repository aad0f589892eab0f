package lanceworker

import (
	"context"
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// A manifest does not make a worker copy tables of other buckets.
func TestBasesOfSameBucket(t *testing.T) {
	var asked []string
	place := location.New("k", "lab/ml/t", func(context.Context) (location.Place, error) {
		return location.Place{Base: func(_ context.Context, path string) (objects.Store, error) {
			asked = append(asked, path)
			return nil, nil
		}}, nil
	})
	e := entry{id: []string{"lab", "ml", "t"}, place: place}
	for path, ok := range map[string]bool{
		"s3://lab/ml/other": true, "s3://lab2/ml/other": false, "s3://": false, "s3://la/b": false, "/data/t": true,
	} {
		asked = nil
		_, err := e.bases(t.Context())(&pb.BasePath{Path: path})
		if ok != (err == nil) || ok != (len(asked) == 1) || !ok && !errors.Is(err, table.ErrRefused) {
			t.Errorf("%s: asked for %v, error %v", path, asked, err)
		}
	}
	e.place = location.New("k", "lab/ml/t", func(context.Context) (location.Place, error) { return location.Place{}, nil })
	if _, err := e.bases(t.Context())(&pb.BasePath{Path: "s3://lab/ml/other"}); !errors.Is(err, table.ErrRefused) {
		t.Errorf("without other roots: error %v", err)
	}
}
