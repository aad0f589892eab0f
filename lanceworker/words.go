package lanceworker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

// maxReasons bounds how many different reasons one sentence names.
const maxReasons = 3

// count says "1 fragment", "2 fragments".
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// byteText says a size as people read it.
func byteText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, prefix := float64(n)/unit, "KMGTPE"
	for f >= unit {
		f, prefix = f/unit, prefix[1:]
	}
	return fmt.Sprintf("%.1f %ciB", f, prefix[0])
}

// leftTime says how long something is going to take, as far as that is worth saying.
func leftTime(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute left"
	case d < 90*time.Minute:
		return "about " + count(int64((d+30*time.Second)/time.Minute), "minute") + " left"
	case d < 48*time.Hour:
		return "about " + count(int64((d+30*time.Minute)/time.Hour), "hour") + " left"
	}
	return "about " + count(int64((d+12*time.Hour)/(24*time.Hour)), "day") + " left"
}

// fraction is done/total from 0 to 1, whatever the two are.
func fraction(done, total int64) float64 {
	if total <= 0 || done <= 0 {
		return 0
	}
	return min(float64(done)/float64(total), 1)
}

// leftWords sums up why fragments stay as they are, less those that need
// nothing, and again only those that can't be read.
func leftWords(left []compact.Left) (all, broken string) {
	var reasons, troubles []string
	for _, l := range left {
		if l.Kind == compact.Fine {
			continue
		}
		reasons = append(reasons, l.Reason)
		if l.Kind == compact.Broken {
			troubles = append(troubles, l.Reason)
		}
	}
	return tally(reasons, "fragment"), tally(troubles, "fragment")
}

func keptWords(kept []cleanup.Kept) string {
	reasons := make([]string, 0, len(kept))
	for _, k := range kept {
		reasons = append(reasons, k.Reason)
	}
	return tally(reasons, "version")
}

// tally counts equal reasons and names the most frequent ones: "3 fragments
// (has deletions), 1 fragment (an index covers it)".
func tally(reasons []string, noun string) string {
	counts := make(map[string]int)
	var distinct []string
	for _, r := range reasons {
		if counts[r]++; counts[r] == 1 {
			distinct = append(distinct, r)
		}
	}
	slices.SortStableFunc(distinct, func(a, b string) int { return counts[b] - counts[a] })
	var parts []string
	rest := 0
	for i, r := range distinct {
		if i >= maxReasons {
			rest += counts[r]
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", count(counts[r], noun), r))
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d more for other reasons", rest))
	}
	return strings.Join(parts, ", ")
}
