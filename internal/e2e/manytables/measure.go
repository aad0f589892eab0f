package manytables

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/counting"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// detectionLimit is the longest that admin lets somebody wait for a detection.
const detectionLimit = 5 * time.Minute

// Measure is what one sweep took: a detection of each job type, one after the other.
type Measure struct {
	Wall     time.Duration
	Proposed int
	// Calls to the filer.
	Calls counting.Calls
	// Peak is the most memory that the worker had so far, in bytes.
	Peak int64
}

// String says it in one line; tables is how many there are.
func (m Measure) String(tables int) string {
	return fmt.Sprintf("%6.2f s, %d calls (%.2f for each table), %d jobs proposed, peak memory of the worker %.1f MB",
		m.Wall.Seconds(), len(m.Calls), float64(len(m.Calls))/float64(tables), m.Proposed, float64(m.Peak)/1e6)
}

// Sweep has admin ask the only worker of a cluster to sweep with each job type, through a filer
// that counts. It needs Linux, for the worker's memory.
func Sweep(ctx context.Context, c *cluster.Cluster, counter *counting.Filer, jobTypes []string) (Measure, error) {
	counter.Take()
	start := time.Now()
	var m Measure
	for _, jobType := range jobTypes {
		n, err := detect(ctx, c, counter.Address(), jobType)
		if err != nil {
			return m, fmt.Errorf("a sweep for %s: %w", jobType, err)
		}
		m.Proposed += n
	}
	m.Wall, m.Calls = time.Since(start), counter.Take()
	var err error
	m.Peak, err = Memory(c.Workers[0].Pid(), "VmHWM")
	return m, err
}

// detect has admin run one detection and returns the number of proposals.
func detect(ctx context.Context, c *cluster.Cluster, filer, jobType string) (int, error) {
	admin, err := url.Parse(c.Admin().URL())
	if err != nil {
		return 0, err
	}
	admin.Path = "/api/plugin/job-types/" + jobType + "/detect"
	body, err := json.Marshal(map[string]any{
		"timeout_seconds": int(detectionLimit / time.Second),
		"cluster_context": map[string]any{"filer_addresses": []string{filer}},
	})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, admin.String(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %d: %.300s", resp.StatusCode, answer)
	}
	var found cluster.Detection
	if err := json.Unmarshal(answer, &found); err != nil {
		return 0, fmt.Errorf("%w: %.300s", err, answer)
	}
	if found.Error != "" {
		return 0, fmt.Errorf("%s", found.Error)
	}
	return len(found.Proposals), nil
}

// Memory reads a size from a process's status in /proc, such as VmHWM, in bytes.
func Memory(pid int, key string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			var kb int64
			_, err := fmt.Sscan(rest, &kb)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no %s", pid, key)
}
