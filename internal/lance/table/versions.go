package table

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// maxManifest bounds what is read of one manifest object: tables of a million
// fragments have manifests of some hundred megabytes.
const maxManifest = 1 << 30

// VersionRef names one version's manifest object as a listing showed it.
type VersionRef struct {
	Version  uint64
	Name     string // whole object name
	Size     int64
	ModTime  time.Time
	Token    string
	Detached bool
}

// Listing is what lies below _versions.
type Listing struct {
	Naming Naming
	// Versions in ascending order.
	Versions []VersionRef
	Detached []VersionRef
	// Other are names that are no version's manifest: hints, staging and
	// temporary files, or something that is not Lance's.
	Other []objects.Entry
}

// ListVersions lists _versions whole.
func ListVersions(ctx context.Context, s objects.Store) (*Listing, error) {
	l := new(Listing)
	var v1, v2 bool
	err := objects.All(ctx, s, VersionsDir, func(e objects.Entry) error {
		v, naming, detached, ok := parseManifestName(e.Name)
		if e.Dir || !ok {
			l.Other = append(l.Other, e)
			return nil
		}
		ref := versionRef(v, e, detached)
		if detached {
			l.Detached = append(l.Detached, ref)
			return nil
		}
		v1, v2 = v1 || naming == NamingV1, v2 || naming == NamingV2
		l.Naming = naming
		l.Versions = append(l.Versions, ref)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", VersionsDir, err)
	}
	if v1 && v2 {
		return nil, refused(VersionsDir, "manifests of both naming schemes")
	}
	slices.SortFunc(l.Versions, func(a, b VersionRef) int {
		if a.Version < b.Version {
			return -1
		}
		return 1
	})
	return l, nil
}

func versionRef(v uint64, e objects.Entry, detached bool) VersionRef {
	return VersionRef{Version: v, Name: VersionsDir + "/" + e.Name, Size: e.Size, ModTime: e.ModTime, Token: e.Token, Detached: detached}
}

// firstPage is how many names are asked for when the first entry of
// _versions is no V2 manifest.
const firstPage = 16

// Newest finds the newest version: with V2 names the first entry of a listing,
// else by listing all. ErrNoTable when there is none.
func Newest(ctx context.Context, s objects.Store) (VersionRef, Naming, error) {
	from := ""
	for limit := 1; ; limit = firstPage {
		page, err := s.List(ctx, VersionsDir, from, limit)
		if err != nil {
			return VersionRef{}, NamingUnknown, fmt.Errorf("listing %s: %w", VersionsDir, err)
		}
		for _, e := range page {
			v, naming, detached, ok := parseManifestName(e.Name)
			switch {
			case e.Dir || !ok || detached:
			case naming == NamingV2:
				return versionRef(v, e, false), NamingV2, nil
			default: // V1 names don't sort by version
				return newestByListing(ctx, s)
			}
		}
		if len(page) < limit {
			return VersionRef{}, NamingUnknown, fmt.Errorf("%s: %w", s, ErrNoTable)
		}
		from = page[len(page)-1].Name + "\x00"
	}
}

func newestByListing(ctx context.Context, s objects.Store) (VersionRef, Naming, error) {
	l, err := ListVersions(ctx, s)
	if err != nil {
		return VersionRef{}, NamingUnknown, err
	}
	if len(l.Versions) == 0 { // the one that was seen has gone meanwhile
		return VersionRef{}, NamingUnknown, fmt.Errorf("%s: %w", s, ErrNoTable)
	}
	return l.Versions[len(l.Versions)-1], l.Naming, nil
}

// versionsAbove lists the versions above v, in ascending order. With V2 names
// they are the first entries of a listing.
func versionsAbove(ctx context.Context, s objects.Store, n Naming, v uint64) ([]VersionRef, error) {
	if n != NamingV2 {
		l, err := ListVersions(ctx, s)
		if err != nil {
			return nil, err
		}
		i, _ := slices.BinarySearchFunc(l.Versions, v+1, func(r VersionRef, v uint64) int {
			return compareVersions(r.Version, v)
		})
		return l.Versions[i:], nil
	}
	var above []VersionRef
	end := strings.TrimPrefix(n.ManifestName(v), VersionsDir+"/")
	for from := ""; ; {
		page, err := s.List(ctx, VersionsDir, from, firstPage)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", VersionsDir, err)
		}
		for _, e := range page {
			if e.Name >= end {
				slices.Reverse(above)
				return above, nil
			}
			if w, naming, detached, ok := parseManifestName(e.Name); ok && !detached && !e.Dir && naming == NamingV2 {
				above = append(above, versionRef(w, e, false))
			}
		}
		if len(page) < firstPage {
			slices.Reverse(above)
			return above, nil
		}
		from = page[len(page)-1].Name + "\x00"
	}
}

func compareVersions(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
