package session

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// lagTime is how long a filer may lag behind the one that was asked before: far longer
// than they do, and short for a table that was really set back by hand. Directories don't lag.
const lagTime = time.Minute

// verdict is what a sighting means for the table that was known.
type verdict int

const (
	moved verdict = iota + 1
	// behind: the same table, as an older version.
	behind
	// another table, which is to be taken for new.
	another
)

// judge compares what a store shows with what is known. lags tells that it may be out of date.
// there tells whether the known version's manifest is still the object that it was; it is asked only where
// that decides.
func judge(known *record, ref table.VersionRef, id string, lags bool, now time.Time, there func() (bool, error)) (verdict, error) {
	switch {
	case id != known.id:
		return another, nil
	case ref.Version == known.ref.Version:
		if ref.Token == "" && known.ref.Token == "" {
			return moved, nil // where objects can't be told apart, each is read anew
		}
		return another, nil
	case ref.Version > known.ref.Version && id != "":
		return moved, nil
	}
	ok, err := there()
	if err != nil {
		return 0, err
	}
	if ref.Version > known.ref.Version {
		if ok {
			return moved, nil
		}
		return another, nil
	}
	// The very object that was the newest before, or one that may have been: a table's copy that was put
	// back, or another table with its id, was written later than what is known.
	was := slices.Contains(known.seen, sighting{ref.Version, ref.Token}) && ref.Token != ""
	older := id != "" && !ref.ModTime.After(known.ref.ModTime)
	late := now.Sub(known.confirmed) > lagTime
	switch {
	case ok || lags && !late && (was || older):
		return behind, nil
	case was:
		return moved, nil
	}
	return another, nil
}

// isThere tells whether the manifest of a version is the object that it was.
func isThere(ctx context.Context, s objects.Store, ref table.VersionRef) (bool, error) {
	base := path.Base(ref.Name)
	page, err := s.List(ctx, table.VersionsDir, base, 1)
	if err != nil {
		return false, fmt.Errorf("listing %s: %w", table.VersionsDir, err)
	}
	return len(page) == 1 && page[0].Name == base && ref.Token != "" && page[0].Token == ref.Token, nil
}

// idOf is the id by which a table is marked, "" when it is not.
func (s *Session) idOf(t *table.Table) string {
	return string(t.Manifest().GetSchemaMetadata()[s.idKey])
}
