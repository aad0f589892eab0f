package session

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
)

type sealed struct{}

func (sealed) Error() string { return "no key" }
func (sealed) Denied()       {}

// Errors of the engine and of the stores have the kinds that this package exports.
func TestClassify(t *testing.T) {
	for err, kind := range map[error]error{
		errChanged:            ErrGone,
		datafile.ErrCorrupt:   ErrCorrupt,
		column.ErrUnsupported: ErrRefused,
		sealed{}:              ErrDenied,
		ErrDenied:             ErrDenied,
		ErrNoTable:            ErrNoTable,
	} {
		wrapped := fmt.Errorf("opening: %w", err)
		if got := classify(wrapped); !errors.Is(got, kind) || !errors.Is(got, err) || got.Error() != wrapped.Error() {
			t.Errorf("%v became %v, want %v", err, got, kind)
		}
	}
	if classify(nil) != nil {
		t.Error("nothing became an error")
	}
}
