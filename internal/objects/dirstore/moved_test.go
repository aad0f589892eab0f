package dirstore

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	open := func() *Store {
		s, err := New(dir, Options{Create: true, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	old := open()
	publish(t, old, "a", "1")
	if old.Moved() {
		t.Error("moved, though nothing happened")
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if !old.Moved() {
		t.Error("not moved, though there is nothing any more")
	}
	again := open()
	if !old.Moved() || again.Moved() {
		t.Errorf("moved: %v and %v, want only the first", old.Moved(), again.Moved())
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if !again.Moved() {
		t.Error("not moved, though it was removed")
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if !old.Moved() {
		t.Error("a closed store leads somewhere")
	}
}
