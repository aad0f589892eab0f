package compact

import (
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

const (
	// DefaultTargetRows is Lance's own default for rows per fragment.
	DefaultTargetRows = 1 << 20
	// DefaultMaxBytes is the size at which Lance's own writer starts another file.
	DefaultMaxBytes = 90 << 30
	// DefaultThreshold is Lance's own default for the share of deleted rows.
	DefaultThreshold = 0.1
	// AnyDeleted is the threshold above which any deleted row lifts a fragment.
	AnyDeleted = -1
)

// Policy says what a well-kept table looks like, and how much a run may do for it at once. The zero value is Lance's own.
type Policy struct {
	// TargetRows is how many rows a fragment should have at least, from 1 on;
	// 0 means DefaultTargetRows.
	TargetRows int64
	// MaxBytes is how many bytes a new data file should have at most, by what its rows take today; 0 means
	// DefaultMaxBytes. A row is not cut. A fragment of more than half of it is large enough however few its rows.
	MaxBytes int64
	// KeepDeleted: deleted rows are no reason to rewrite a fragment. They are left out all the same when it is rewritten.
	KeepDeleted bool
	// Threshold is the share of its rows that have to be deleted for a fragment to be rewritten for that alone: it
	// is when there are more. 0 means DefaultThreshold, AnyDeleted none, and from 1 on it never is.
	Threshold float64
	// The most that one run merges: so many fragments, rows that are kept, bytes of data files; 0 means no limit. Runs of small
	// fragments are taken apart so that this can be kept, and what does not fit waits for another run.
	MaxSourceFragments, MaxSourceRows, MaxSourceBytes int64
	// Fixed are the settings that a table's own don't override.
	Fixed Settings
}

// Percent is the threshold of so many percent of the rows.
func Percent(n int64) float64 {
	if n <= 0 {
		return AnyDeleted
	}
	return float64(n) / 100
}

// Settings are some of a policy's.
type Settings uint

// The settings that a table may have of its own, each under the name that Lance has for it behind "lance.compaction.".
const (
	SettingTargetRows Settings = 1 << iota
	SettingMaxBytes
	SettingDeletions // both of them
	SettingMaxSourceFragments
	SettingMaxSourceRows
	SettingMaxSourceBytes
)

// configPrefix begins the keys of a table's settings for compaction.
const configPrefix = "lance.compaction."

// Under is the policy with what the table says itself in place of what it is not fixed to. own names what that was; an error is
// a table.ErrConfig, and then nothing is to be done to the table.
func (p Policy) Under(c table.Config) (_ Policy, own []string, err error) {
	for _, s := range []struct {
		name  string
		which Settings
		read  func(key string) (set bool, err error)
	}{
		{"target_rows_per_fragment", SettingTargetRows, number(c, &p.TargetRows)},
		{"max_bytes_per_file", SettingMaxBytes, number(c, &p.MaxBytes)},
		{"materialize_deletions", SettingDeletions, func(key string) (bool, error) {
			yes, set, err := c.Bool(key)
			if set && err == nil {
				p.KeepDeleted = !yes
			}
			return set, err
		}},
		{"materialize_deletions_threshold", SettingDeletions, func(key string) (bool, error) {
			share, set, err := c.Share(key)
			if set && err == nil {
				if p.Threshold = share; share == 0 {
					p.Threshold = AnyDeleted
				}
			}
			return set, err
		}},
		{"max_source_fragments", SettingMaxSourceFragments, number(c, &p.MaxSourceFragments)},
		{"max_source_rows", SettingMaxSourceRows, number(c, &p.MaxSourceRows)},
		{"max_source_bytes", SettingMaxSourceBytes, number(c, &p.MaxSourceBytes)},
	} {
		if p.Fixed&s.which != 0 {
			continue
		}
		set, err := s.read(configPrefix + s.name)
		if err != nil {
			return p, nil, err
		}
		if set {
			own = append(own, s.name+"="+strings.ToLower(c[configPrefix+s.name]))
		}
	}
	return p, own, nil
}

func number(c table.Config, to *int64) func(key string) (bool, error) {
	return func(key string) (bool, error) {
		n, set, err := c.Count(key)
		if set && err == nil {
			*to = n
		}
		return set, err
	}
}

func (p Policy) target() uint64 { return uint64(orDefault(p.TargetRows, DefaultTargetRows)) }

func (p Policy) maxBytes() int64 { return orDefault(p.MaxBytes, DefaultMaxBytes) }

func orDefault(n, def int64) int64 {
	if n <= 0 {
		return def
	}
	return n
}

// due tells whether a fragment is worth rewriting for its deleted rows alone. One without rows is not worth keeping, and one
// whose entry doesn't tell how many there are is worth a look.
func (p Policy) due(f *Fragment) bool {
	switch {
	case f.Rows == 0 || f.uncounted:
		return true
	case p.KeepDeleted || f.Deleted == 0:
		return false
	case p.Threshold < 0:
		return true
	case p.Threshold == 0:
		return deletedShare(f) > DefaultThreshold
	}
	return deletedShare(f) > p.Threshold && p.Threshold < 1
}

// deletedShare is the share of a fragment's rows that are deleted.
func deletedShare(f *Fragment) float64 {
	return float64(min(f.Deleted, f.Rows)) / float64(max(f.Rows, 1))
}

// much says how many deleted rows make one due.
func (p Policy) much() string {
	switch {
	case p.Threshold < 0:
		return "any"
	case p.Threshold == 0:
		return "more than a tenth"
	}
	return fmt.Sprintf("more than %.4g %%", 100*p.Threshold)
}
