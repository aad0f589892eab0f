package lanceworker

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
)

const modulePath = "github.com/seaweedfs/seaweed-lance"

// identity keeps build_info: which worker this is, as far as it can be known.
// Weed tells a handler neither its id nor the admin's address.
type identity struct {
	workerID   string
	workingDir string
	metrics    *metrics
	once       sync.Once
}

// announce publishes build_info as soon as the worker's id is known. In `weed
// mini` that file is written after the handlers have been built; by the first
// request it is there, or will never be.
func (i *identity) announce(atRequest bool) {
	id := i.own()
	if id == "" && atRequest {
		// A host without a name still runs something: an empty label says so.
		id, _ = os.Hostname()
	}
	if id == "" && !atRequest {
		return
	}
	i.once.Do(func() { i.metrics.build.WithLabelValues(id, version()).Set(1) })
}

// own is the worker's id where it is known.
func (i *identity) own() string {
	if i.workerID != "" {
		return i.workerID
	}
	return readWorkerID(i.workingDir)
}

// companion is the id of the worker's second stream. Admin ends a stream when
// another of the same id comes, so that one is drawn where the worker's own is not known.
func (i *identity) companion() string {
	id := i.own()
	if id == "" {
		host, _ := os.Hostname()
		id = host + "-" + rand.Text()[:8]
	}
	return id + "-lance"
}

// readWorkerID returns what weed wrote into worker.id, or nothing.
func readWorkerID(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, "worker.id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// version is that of this module in the running program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return versionOf(info)
}

// unknownVersion stands for a build that carries no trace of its source.
const unknownVersion = "devel"

func versionOf(info *debug.BuildInfo) string {
	if info.Main.Path == modulePath {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			return v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return unknownVersion + "-" + s.Value[:12]
			}
		}
		return unknownVersion
	}
	for _, m := range info.Deps {
		if m.Path != modulePath {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return unknownVersion
}
