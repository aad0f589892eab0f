package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// HintName is where stores without an ordered listing keep a guess of the newest version.
const HintName = VersionsDir + "/latest_version_hint.json"

// maxHint bounds the hint's file.
const maxHint = 1 << 16

// writeHint brings an existing hint up to date; readers look upwards from it.
// Best effort: a reader copes with a hint that is too low, as long as the
// versions above it are there. A table without one gets none.
func writeHint(ctx context.Context, s objects.Store, version uint64) {
	_ = FixHint(ctx, s, version)
}

// FixHint raises an existing hint to at least version. Before versions are
// removed it must not fail: a hint below a gap leads readers to an old version.
func FixHint(ctx context.Context, s objects.Store, version uint64) error {
	b, _, err := objects.ReadAll(ctx, s, HintName, maxHint)
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", HintName, err)
	}
	var hint struct {
		Version uint64 `json:"version"`
	}
	if json.Unmarshal(b, &hint) == nil && hint.Version >= version {
		return nil
	}
	hint.Version = version
	if b, err = json.Marshal(hint); err != nil {
		return fmt.Errorf("encoding %s: %w", HintName, err)
	}
	if err := s.Replace(ctx, HintName, b); err != nil {
		return fmt.Errorf("writing %s: %w", HintName, err)
	}
	return nil
}
