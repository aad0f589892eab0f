package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
)

// profiled starts a profile, "cpu:FILE" or "mem:FILE", which stop writes. None when what is empty.
func profiled(what string) (stop func() error, err error) {
	if what == "" {
		return func() error { return nil }, nil
	}
	kind, name, _ := strings.Cut(what, ":")
	if kind != "cpu" && kind != "mem" || name == "" {
		return nil, fmt.Errorf("profile %q: neither cpu:FILE nor mem:FILE", what)
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
	return func() error {
		return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
	}, nil
}
