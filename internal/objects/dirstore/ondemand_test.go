package dirstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

func onDemand(t testing.TB, dir string, o Options) *OnDemand {
	t.Helper()
	s, err := NewOnDemand(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Release)
	return s
}

func TestContractOnDemand(t *testing.T) {
	storetest.Run(t, func(t testing.TB) objects.Store { return onDemand(t, t.TempDir(), Options{NoSync: true}) })
}

// Every call opens the directory, which all the same gives no two objects one date.
func TestContractReleased(t *testing.T) {
	now := time.Now()
	storetest.Run(t, func(t testing.TB) objects.Store {
		s := onDemand(t, t.TempDir(), Options{NoSync: true, Now: func() time.Time { return now }})
		s.Release()
		t.Cleanup(func() {
			if s.mu.store != nil || s.mu.users != 0 {
				t.Errorf("still open for %d users", s.mu.users)
			}
		})
		return s
	})
}

// Opened again it goes on with its dates: an inode may be used again at once.
func TestReleasedDates(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	s := onDemand(t, t.TempDir(), Options{NoSync: true, Now: func() time.Time { return now }})
	for i := range 3 {
		if err := s.Publish(t.Context(), fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
		s.Release()
	}
	page, err := s.List(t.Context(), "", "", 10)
	if err != nil || len(page) != 3 {
		t.Fatalf("%v, %v", page, err)
	}
	for i, e := range page {
		if want := now.Add(time.Duration(i) * timeStep); !e.ModTime.Equal(want) {
			t.Errorf("%s is dated %v, want %v", e.Name, e.ModTime, want)
		}
	}
}

func (s *OnDemand) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.store != nil
}

// A writer keeps the directory until it ends, a reader does not need it.
func TestReleaseInUse(t *testing.T) {
	dir := t.TempDir()
	s := onDemand(t, dir, Options{NoSync: true})
	if err := s.Publish(t.Context(), "a", []byte("content")); err != nil || !s.open() {
		t.Fatalf("open %v, error %v", s.open(), err)
	}
	finished, err := s.Create(t.Context(), "finished")
	if err != nil {
		t.Fatal(err)
	}
	aborted, err := s.Create(t.Context(), "aborted")
	if err != nil {
		t.Fatal(err)
	}
	s.Release()
	s.Release()
	if !s.open() {
		t.Error("closed under writers")
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := objects.CopyRange(t.Context(), finished, r, 3, 4, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := finished.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	finished.Abort()
	if !s.open() {
		t.Error("closed under a writer")
	}
	aborted.Abort()
	aborted.Abort()
	if s.open() {
		t.Error("open without users")
	}
	if _, err := s.Create(t.Context(), "late"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	p := make([]byte, 7)
	if err := r.ReadAt(t.Context(), p, 0); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
	if b, err := os.ReadFile(filepath.Join(moved, "finished")); err != nil || string(b) != "tent" {
		t.Errorf("%q, %v", b, err)
	}
	if entries, err := os.ReadDir(moved); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Calls that go on while the directory is let go of don't notice.
func TestReleaseMeanwhile(t *testing.T) {
	for range 20 {
		s := onDemand(t, t.TempDir(), Options{NoSync: true})
		content := bytes.Repeat([]byte("x"), 1000)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 20 {
					name := fmt.Sprintf("%d/%d", i, j)
					if err := s.Publish(t.Context(), name, content); err != nil {
						t.Error(err)
					}
					if b, _, err := objects.ReadAll(t.Context(), s, name, 1000); err != nil || !bytes.Equal(b, content) {
						t.Errorf("%d bytes, %v", len(b), err)
					}
					if i == 0 && j == 5 {
						s.Release()
					}
				}
			})
		}
		wg.Wait()
		if s.open() || s.mu.users != 0 {
			t.Errorf("open %v for %d users", s.open(), s.mu.users)
		}
	}
}

// BenchmarkOpen compares a directory that is kept with one that is opened for each call.
func BenchmarkOpen(b *testing.B) {
	for _, released := range []bool{false, true} {
		b.Run(fmt.Sprintf("released=%v", released), func(b *testing.B) {
			s := onDemand(b, b.TempDir(), Options{NoSync: true})
			if err := s.Publish(b.Context(), "data/a", nil); err != nil {
				b.Fatal(err)
			}
			if released {
				s.Release()
			}
			for b.Loop() {
				r, err := s.Open(b.Context(), "data/a")
				if err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}
