package shell

import (
	"errors"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func TestBases(t *testing.T) {
	dir := t.TempDir()
	slashed := filepath.ToSlash(dir)
	uri := url.URL{Scheme: "file", Path: slashed}
	for _, c := range []struct {
		path string
		want error
	}{
		{dir, nil},
		{uri.String(), nil},
		{"file://localhost" + slashed, nil},
		{"file://elsewhere" + slashed, table.ErrRefused},
		{"s3://lab/ml/vectors", table.ErrRefused},
		{"relative/path", table.ErrRefused},
		{"", table.ErrRefused},
		{filepath.Join(dir, "missing"), objects.ErrNotFound},
	} {
		b := bases{target: &target{}}
		s, err := b.open(t.Context())(&pb.BasePath{Path: c.path})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%q: error %v, want %v", c.path, err, c.want)
		}
		if err == nil && s.String() != dir {
			t.Errorf("%q: opened %s", c.path, s)
		}
		b.close()
	}
}
