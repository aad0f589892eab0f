package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// clusterPackage is a program of its own, as sweepPackage is.
const clusterPackage = "github.com/seaweedfs/seaweed-lance/internal/e2e/bench/cluster"

// benchCluster builds and runs it on the first of the tables that compaction is measured on.
func benchCluster(rounds int, scale float64, asJSON bool) error {
	t := compactTables[0].scaled(scale)
	cmd := exec.Command("go", "run", clusterPackage, "-rounds", strconv.Itoa(rounds), "-fragments", strconv.Itoa(t.fragments),
		"-rows", strconv.Itoa(t.rows), "-json="+strconv.FormatBool(asJSON))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s: %w", clusterPackage, err)
	}
	return nil
}
