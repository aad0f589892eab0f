package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// settle waits until everything written so far is on disk.
func settle() error {
	unix.Sync()
	return nil
}

// measured is one run of ours; job is a directory, with nosyncPrefix before it when nothing
// is to be synced, as Lance does, or scanPrefix when it is to be read.
func measured(job string, w io.Writer) error {
	run := compacted
	if _, ok := strings.CutPrefix(job, scanPrefix); ok {
		run = scanned
	}
	runtime.GC()
	// Since Linux 4.0: the peak starts over from what is resident now.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("resetting the memory peak: %w", err)
	}
	idle, err := status("VmRSS")
	if err != nil {
		return err
	}
	before, err := processor()
	if err != nil {
		return err
	}
	stop, err := profiled(os.Getenv(profileVariable))
	if err != nil {
		return err
	}
	start := time.Now()
	rows, err := run(job)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	wall := time.Since(start).Seconds()
	after, err := processor()
	if err != nil {
		return err
	}
	peak, err := status("VmHWM")
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(measure{Wall: wall, CPU: after - before, Peak: peak - idle, Rows: rows})
}

// compacted merges a table.
func compacted(job string) (rows int64, err error) {
	dir, nosync := strings.CutPrefix(job, nosyncPrefix)
	s, err := dirstore.New(dir, dirstore.Options{NoSync: nosync})
	if err != nil {
		return 0, err
	}
	r, err := compact.Run(context.Background(), s, compact.Options{})
	if err == nil && !r.Changed {
		err = fmt.Errorf("nothing was merged: %+v", r)
	}
	return 0, err
}

// status reads a size from /proc/self/status, in bytes.
func status(key string) (float64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(key+":")); ok {
			var kb float64
			_, err := fmt.Sscan(string(rest), &kb)
			return kb * 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no %s", key)
}

// processor is the time that this process has used, in seconds.
func processor() (float64, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime), nil
}
