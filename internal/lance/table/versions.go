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
	c := collector{l: new(Listing)}
	err := objects.All(ctx, s, VersionsDir, func(e objects.Entry) error {
		c.add(e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", VersionsDir, err)
	}
	if err := c.done(); err != nil {
		return nil, err
	}
	return c.l, nil
}

// collector makes a Listing of entries.
type collector struct {
	l      *Listing
	v1, v2 bool
}

func (c *collector) add(e objects.Entry) {
	v, naming, detached, ok := parseManifestName(e.Name)
	if e.Dir || !ok {
		c.l.Other = append(c.l.Other, e)
		return
	}
	ref := versionRef(v, e, detached)
	if detached {
		c.l.Detached = append(c.l.Detached, ref)
		return
	}
	c.v1, c.v2 = c.v1 || naming == NamingV1, c.v2 || naming == NamingV2
	c.l.Naming = naming
	c.l.Versions = append(c.l.Versions, ref)
}

// done puts the versions in order.
func (c *collector) done() error {
	if c.v1 && c.v2 {
		return refused(VersionsDir, "manifests of both naming schemes")
	}
	slices.SortFunc(c.l.Versions, func(a, b VersionRef) int { return compareVersions(a.Version, b.Version) })
	return nil
}

func versionRef(v uint64, e objects.Entry, detached bool) VersionRef {
	return VersionRef{Version: v, Name: VersionsDir + "/" + e.Name, Size: e.Size, ModTime: e.ModTime, Token: e.Token, Detached: detached}
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
