package pin

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

const (
	// leasePrefix tells this module's leases from people's tags, vectorPrefix the
	// vector server's.
	leasePrefix  = "seaweed-lance-lease_"
	vectorPrefix = "weed-vector-query-"

	// leaseTime is the stamp in a lease's name: UTC, to the second, which is fine
	// enough for ages counted in hours.
	leaseTime = "20060102T150405Z"

	// maxHolder keeps tags short enough to be read: a host's own name has up to
	// 63 characters, most of which tell nothing.
	maxHolder = 32

	// instanceBytes make a process, and tagBytes a tag, different from all others;
	// vectorBytes are how many the vector server uses for either.
	instanceBytes = 4
	tagBytes      = 8
	vectorBytes   = 16
)

// TTL is when the tag of any process counts as abandoned. Whether that process
// still reads can't be known; no read should take a day.
const TTL = 24 * time.Hour

// NewHolder is a name that no other process has: the given one, as far as a tag
// can hold it, and a random part.
func NewHolder(name string) string {
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

// NewTag is a name that no other tag has, of a holder that NewHolder named:
//
//	seaweed-lance-lease_vm-3-5f0c91aa_20261130T195026Z_3d9f40c21b7a65e8
func NewTag(holder string, since time.Time) string {
	return leasePrefix + holder + "_" + since.UTC().Format(leaseTime) + "_" + random(tagBytes)
}

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Tag is the name of a tag that keeps a version for a reader, taken apart.
type Tag struct {
	// Holder is what NewHolder named; "" for the vector server's.
	Holder string
	// Since is when the making of the tag began, by its maker's clock.
	Since time.Time
}

// ParseTag takes a name apart. ok is false for everything that neither NewTag nor the
// vector server can have made.
func ParseTag(tag string) (t Tag, ok bool) {
	if rest, ok := strings.CutPrefix(tag, leasePrefix); ok {
		return parseLease(rest)
	}
	if rest, ok := strings.CutPrefix(tag, vectorPrefix); ok {
		return parseVector(rest)
	}
	return Tag{}, false
}

func parseLease(rest string) (Tag, bool) {
	parts := strings.Split(rest, "_")
	if len(parts) != 3 || parts[0] == "" || !isHex(parts[2], tagBytes) {
		return Tag{}, false
	}
	since, err := time.Parse(leaseTime, parts[1])
	// Parse takes fractions of a second, too.
	return Tag{Holder: parts[0], Since: since}, err == nil && since.Format(leaseTime) == parts[1]
}

// parseVector knows <instance>-<nanos>-<random> and, of older servers, <nanos>-<random>. Only the
// number of parts tells them apart: an instance may be all digits, too.
func parseVector(rest string) (Tag, bool) {
	parts := strings.Split(rest, "-")
	if len(parts) == 3 && isHex(parts[0], vectorBytes) {
		parts = parts[1:]
	}
	if len(parts) != 2 || !isHex(parts[1], vectorBytes) {
		return Tag{}, false
	}
	nanos, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || strconv.FormatInt(nanos, 10) != parts[0] {
		return Tag{}, false
	}
	return Tag{Since: time.Unix(0, nanos)}, true
}

// isHex tells whether s is so many bytes as both kinds of names have them.
func isHex(s string, bytes int) bool {
	return len(s) == 2*bytes && strings.Trim(s, "0123456789abcdef") == ""
}

// Abandoned tells whether a tag is a lease's or the vector server's and too old to be in use,
// whoever made it. A stamp that is ahead of the clock is never too old: it can't be told which of the two
// clocks is wrong.
func Abandoned(tag string, now time.Time) bool {
	t, ok := ParseTag(tag)
	return ok && now.Sub(t.Since) > TTL
}
