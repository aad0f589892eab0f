package compact

import "time"

// Progress of a Run, which never goes back. What has to be planned anew leaves the totals and comes back with the next plan.
type Progress struct {
	TasksDone, Tasks int
	// Rows that are kept.
	RowsDone, Rows int64
	// Bytes of the sources.
	BytesDone, Bytes int64
}

// estimateAfter is how long a run has to be under way before its speed says anything.
const estimateAfter = 3 * time.Second

// Left estimates how long the rest takes, when so much has taken so long; ok when that can be said.
func (p Progress) Left(passed time.Duration) (left time.Duration, ok bool) {
	if passed < estimateAfter || p.BytesDone <= 0 || p.BytesDone > p.Bytes {
		return 0, false
	}
	const longest = 1000 * 24 * time.Hour
	rest := float64(passed) * (float64(p.Bytes) - float64(p.BytesDone)) / float64(p.BytesDone)
	return time.Duration(min(rest, float64(longest))), true
}
