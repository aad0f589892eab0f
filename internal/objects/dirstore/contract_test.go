package dirstore

import (
	"syscall"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

// fresh is a store in an empty directory.
func fresh(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := New(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func open(o Options) storetest.Open {
	return func(t testing.TB) objects.Store { return fresh(t, o) }
}

func TestContract(t *testing.T) { storetest.Run(t, open(Options{})) }

func TestContractNoSync(t *testing.T) { storetest.Run(t, open(Options{NoSync: true})) }

// A clock that stands still must not make two objects look like one.
func TestContractFrozenClock(t *testing.T) {
	now := time.Now()
	storetest.Run(t, open(Options{NoSync: true, Now: func() time.Time { return now }}))
}

func TestContractThroughFaultstore(t *testing.T) {
	storetest.Run(t, func(t testing.TB) objects.Store {
		return faultstore.New(fresh(t, Options{NoSync: true}), nil)
	})
}

// With listings that can be opened, as on a cluster.
func TestContractOpening(t *testing.T) {
	storetest.Run(t, func(t testing.TB) objects.Store {
		return faultstore.New(storetest.Opening(fresh(t, Options{NoSync: true})), nil)
	})
}

// On a file system without hard links the exclusive rename has to do.
func TestContractWithoutLinks(t *testing.T) {
	if err := renameExclusive(fresh(t, Options{}).root, "", "a", "b"); !missing(err) {
		t.Skipf("no exclusive rename here: %v", err)
	}
	storetest.Run(t, func(t testing.TB) objects.Store {
		s := fresh(t, Options{NoSync: true})
		s.link = func(string, string) error { return syscall.EPERM }
		return s
	})
}

func BenchmarkSync(b *testing.B) { storetest.Benchmark(b, open(Options{})) }

func BenchmarkNoSync(b *testing.B) { storetest.Benchmark(b, open(Options{NoSync: true})) }
