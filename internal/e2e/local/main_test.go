package local_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// jobVariable makes the test binary a worker: it holds a job as JSON.
const jobVariable = "SEAWEED_LANCE_TEST_JOB"

// job is what a process of its own is to do.
type job struct {
	Dir string
	// Kind is "compact" or "cleanup"; "hold" takes a lease on the newest version, says its tag and holds it
	// until the process is ended.
	Kind   string
	Target int64
	// Keep is the least number of versions that a cleanup leaves.
	Keep int
	// Times is how often it runs, one right after the other.
	Times int
	// Memory is the budget of a compaction in bytes.
	Memory int64
	// Peak is a file to write to how many bytes more than before the process held at most.
	Peak string
}

func TestMain(m *testing.M) {
	if text := os.Getenv(jobVariable); text != "" {
		if err := work(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// work does a job once a line came in, so that many processes begin together.
func work(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	s, err := dirstore.New(j.Dir, dirstore.Options{NoSync: true})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	if j.Kind == "hold" {
		return hold(j.Dir, in)
	}
	peak := func() error { return nil }
	if j.Peak != "" {
		if peak, err = peakAbove(j.Peak); err != nil {
			return err
		}
	}
	for range max(j.Times, 1) {
		var result any
		switch j.Kind {
		case "compact":
			result, err = compact.Run(context.Background(), s, compact.Options{Policy: compact.Policy{TargetRows: j.Target}, MemoryBudget: j.Memory})
		case "cleanup":
			result, err = cleanup.Run(context.Background(), s, cleanup.Options{Policy: cleanup.Policy{MinVersions: j.Keep}})
		default:
			err = fmt.Errorf("job of kind %q", j.Kind)
		}
		if err != nil {
			return fmt.Errorf("%s: %w (%+v)", j.Kind, err, result)
		}
	}
	return peak()
}
