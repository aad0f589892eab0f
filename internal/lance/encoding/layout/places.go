package layout

import (
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/level"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// meaningOf is the meaning of the layers of a page.
//
// Lance up to 8.0 wrote one layer too many for blobs of the second kind: the innermost says that all is valid, and only the
// one after it which blobs are null. All releases, these included, take the innermost for the blob's, so that
// no blob is null in such a page: one that was written as null reads as one of no bytes in the data file, and so it does here.
//
// What follows they take for the layers of what is around the blob, each one too far out. That makes no difference where another
// column of the struct comes before it, as that one's word is taken. Where the blob comes first, they take the struct for
// null in rows whose blob alone is, and lose sight of all else in it: such rows are not read.
func (f *frame) meaningOf(layers []pb.PageLayout_Layer) (*level.Meaning, error) {
	if !f.places || len(layers) != len(f.path)+1 || layers[0] != pb.PageLayout_ALL_VALID_ITEM {
		return level.NewMeaning(f.path, layers)
	}
	layers = layers[1:]
	m, err := level.NewMeaning(f.path, layers)
	if err != nil || layers[0] != pb.PageLayout_NULLABLE_ITEM {
		return m, err
	}
	switch {
	case m.MaxRep > 0:
		return nil, unsupported("blobs in lists as Lance up to 8.0 would have written them")
	case f.leads:
		m.ForgetNulls(unsupported("a null blob that Lance 8.0 wrote as the first column of a struct, which Lance takes for null because of it"))
	default:
		m.ForgetNulls(nil)
	}
	return m, nil
}
