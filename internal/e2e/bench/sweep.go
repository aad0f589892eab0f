package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// sweepPackage is a program of its own, as it has all of SeaweedFS in it: what is measured here
// would not be the same with that.
const sweepPackage = "github.com/seaweedfs/seaweed-lance/internal/e2e/bench/sweep"

// benchSweep builds and runs it.
func benchSweep(tables string, sweeps int, asJSON bool) error {
	cmd := exec.Command("go", "run", sweepPackage, "-tables", tables, "-sweeps", strconv.Itoa(sweeps), "-json="+strconv.FormatBool(asJSON))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s: %w", sweepPackage, err)
	}
	return nil
}
