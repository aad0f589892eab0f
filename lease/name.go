package lease

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"
)

const (
	// tagPrefix tells this module's leases from people's tags, and from the
	// vector server's, which begin with weed-vector-query-.
	tagPrefix = "seaweed-lance-lease_"

	// tagTime is the stamp in a tag's name: UTC, to the second, which is fine
	// enough for ages counted in hours.
	tagTime = "20060102T150405Z"

	// maxHolder keeps tags short enough to be read: a host's own name has up to
	// 63 characters, most of which tell nothing.
	maxHolder = 32

	// instanceBytes make a process, and tagBytes a tag, different from all others.
	instanceBytes = 4
	tagBytes      = 8
)

// newHolder is a name that no other process has: the given one, as far as a tag
// can hold it, and a random part.
func newHolder(name string) string {
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, name)
	if len(plain) > maxHolder {
		plain = plain[:maxHolder]
	}
	return plain + "-" + random(instanceBytes)
}

// newTag is a name that no other tag has.
func (l *Leases) newTag(since time.Time) string {
	return tagPrefix + l.holder + "_" + since.UTC().Format(tagTime) + "_" + random(tagBytes)
}

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// tagName is the name of a lease's tag taken apart.
type tagName struct {
	holder string
	since  time.Time
}

// parseTag takes a name apart. ok is false for everything that newTag can't have made.
func parseTag(tag string) (n tagName, ok bool) {
	rest, ok := strings.CutPrefix(tag, tagPrefix)
	parts := strings.Split(rest, "_")
	if !ok || len(parts) != 3 || parts[0] == "" {
		return tagName{}, false
	}
	since, err := time.Parse(tagTime, parts[1])
	if err != nil {
		return tagName{}, false
	}
	if b, err := hex.DecodeString(parts[2]); err != nil || len(b) != tagBytes {
		return tagName{}, false
	}
	return tagName{holder: parts[0], since: since}, true
}
