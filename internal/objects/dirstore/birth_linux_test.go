package dirstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// TestTokenOfReusedInode makes files by other means than the store's until one has the inode, the size and the time of
// the one before: it is another object all the same.
func TestTokenOfReusedInode(t *testing.T) {
	dir := t.TempDir()
	s, err := dirstore.New(dir, dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_790_000_000, 0)
	path := filepath.Join(dir, "v", "1")
	if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(content string) (inode uint64, e objects.Entry) {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.List(t.Context(), "v", "", 1)
		if err != nil || len(page) != 1 {
			t.Fatalf("%v, error %v", page, err)
		}
		r, err := s.Open(t.Context(), "v/1")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if r.Entry().Token != page[0].Token {
			t.Errorf("listed as %s, opened as %s", page[0].Token, r.Entry().Token)
		}
		return fi.Sys().(*syscall.Stat_t).Ino, page[0]
	}
	was, first := write("one")
	if !strings.Contains(first.Token, "+") {
		t.Skip("the file system does not say when a file was made")
	}
	same := 0
	for range 10_000 {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		inode, next := write("two")
		if inode == was {
			if next.Size != first.Size || !next.ModTime.Equal(first.ModTime) {
				t.Fatalf("%+v after %+v", next, first)
			}
			if next.Token != first.Token {
				return
			}
			same++ // made in the same tick of the clock by which files are dated
		}
		was, first = inode, next
	}
	if same > 0 {
		t.Errorf("%d files in a row have the token %s", same, first.Token)
	}
	t.Skip("no inode is used again")
}
