package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"time"
)

// profiled starts a profile, which stop writes: "cpu:FILE", "mem:FILE" of all that is allocated, "heap:FILE" of what is in use
// when that is most. None when what is empty.
func profiled(what string) (stop func() error, err error) {
	if what == "" {
		return func() error { return nil }, nil
	}
	kind, name, _ := strings.Cut(what, ":")
	if kind != "cpu" && kind != "mem" && kind != "heap" || name == "" {
		return nil, fmt.Errorf("profile %q: none of cpu:FILE, mem:FILE and heap:FILE", what)
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if kind == "cpu" {
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return func() error {
			pprof.StopCPUProfile()
			return f.Close()
		}, nil
	}
	runtime.MemProfileRate = 64 << 10
	if kind == "heap" {
		return highest(f), nil
	}
	return func() error {
		return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
	}, nil
}

// highest writes the profile of the collection after which most was in use.
func highest(f *os.File) (stop func() error) {
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		var most uint64
		var err error
		for err == nil {
			select {
			case <-done:
				ended <- f.Close()
				return
			case <-time.After(5 * time.Millisecond):
			}
			metrics.Read(live)
			if n := live[0].Value.Uint64(); n > most {
				most = n
				_, err = f.Seek(0, io.SeekStart)
				err = errors.Join(err, f.Truncate(0), pprof.Lookup("heap").WriteTo(f, 0))
			}
		}
		ended <- errors.Join(err, f.Close())
	}()
	return func() error {
		close(done)
		return <-ended
	}
}
