package dirstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// The test binary is also the process that is killed, or races with others.
func TestMain(m *testing.M) {
	root := os.Getenv("DIRSTORE_CHILD")
	if root == "" {
		os.Exit(m.Run())
	}
	if err := child(root, os.Getenv("DIRSTORE_CHILD_ID")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(t *testing.T, root string, id int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "DIRSTORE_CHILD="+root, "DIRSTORE_CHILD_ID="+strconv.Itoa(id))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

const childObjects = 200

// child creates objects whose content is their name and its own id, and
// prints which ones it made.
func child(root, id string) error {
	s, err := New(root, Options{NoSync: true})
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range childObjects {
		name := fmt.Sprintf("_versions/%d.manifest", i)
		err := childCreate(s, name, childContent(name, id), i%2 == 0)
		if errors.Is(err, objects.ErrExists) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(name)
	}
	return nil
}

func childContent(name, id string) []byte {
	return bytes.Repeat([]byte(name+" "+id+"\n"), 10_000)
}

func childCreate(s *Store, name string, content []byte, stream bool) error {
	ctx := context.Background()
	if !stream {
		return s.Publish(ctx, name, content)
	}
	w, err := s.Create(ctx, name)
	if err != nil {
		return err
	}
	defer w.Abort()
	for len(content) > 0 {
		n := min(len(content), 7000)
		if _, err := w.Write(content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	_, err = w.Finish(ctx)
	return err
}

// Several processes create the same objects: each object is made by one of
// them, and that one knows.
func TestProcessesRace(t *testing.T) {
	root := t.TempDir()
	made := map[string]string{}
	type run struct {
		cmd *exec.Cmd
		out *bufio.Scanner
	}
	var runs []run
	for id := range 4 {
		cmd, out := start(t, root, id)
		runs = append(runs, run{cmd, out})
	}
	for id, r := range runs {
		for r.out.Scan() {
			if other, twice := made[r.out.Text()]; twice {
				t.Errorf("%s was made by %s and %d", r.out.Text(), other, id)
			}
			made[r.out.Text()] = strconv.Itoa(id)
		}
		if err := r.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if len(made) != childObjects {
		t.Errorf("%d objects made, want %d", len(made), childObjects)
	}
	checkChildren(t, root, made)
}

// A process that is killed leaves whole objects and temporary files, and
// everything that it said it had made.
func TestProcessKilled(t *testing.T) {
	root := t.TempDir()
	made := map[string]string{}
	for id := range 20 {
		cmd, out := start(t, root, id)
		for n := 0; n <= id%4 && out.Scan(); n++ {
			made[out.Text()] = strconv.Itoa(id)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		for out.Scan() { // what it had said before it died
			made[out.Text()] = strconv.Itoa(id)
		}
		_ = cmd.Wait() // says that it was killed
	}
	if len(made) < 20 {
		t.Errorf("only %d objects made", len(made))
	}
	checkChildren(t, root, made)
}

// checkChildren checks that every object is there, whole, and somebody's.
func checkChildren(t *testing.T, root string, made map[string]string) {
	t.Helper()
	s, err := New(root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = objects.All(t.Context(), s, "_versions", func(e objects.Entry) error {
		if strings.HasPrefix(e.Name, ".tmp") {
			return nil
		}
		name := "_versions/" + e.Name
		p, _, err := objects.ReadAll(t.Context(), s, name, 1<<20)
		if err != nil {
			return err
		}
		line, _, _ := strings.Cut(string(p), "\n")
		_, id, _ := strings.Cut(line, " ")
		if !bytes.Equal(p, childContent(name, id)) {
			t.Errorf("%s is not whole", name)
		}
		if said, known := made[name]; known && said != id {
			t.Errorf("%s was made by %s, but %s said so", name, id, said)
		}
		delete(made, name)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for name := range made {
		t.Errorf("%s is gone", name)
	}
}
