package local_test

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
	"github.com/seaweedfs/seaweed-lance/internal/lance/cleanup"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// hold is the work of a process that takes a lease and keeps it.
func hold(dir string, in *bufio.Reader) error {
	s, err := session.New(session.Options{})
	if err != nil {
		return err
	}
	tab, err := s.Open(context.Background(), session.Directory(dir))
	if err != nil {
		return err
	}
	le, err := lease.New(lease.Options{Holder: "killed"}).Take(context.Background(), tab)
	if err != nil {
		return err
	}
	fmt.Println(le.Tag())
	_, err = in.ReadString('\n') // nobody writes it
	return err
}

// killedHolder has a process of its own take a lease on the newest version, and kills it.
func killedHolder(t *testing.T, dir string) (tag string) {
	t.Helper()
	p := launch(t, job{Dir: dir, Kind: "hold"})
	p.begin(t)
	line, err := p.out.ReadString('\n')
	if kill := p.cmd.Process.Kill(); err != nil || kill != nil {
		p.cmd.Wait()
		t.Fatalf("%q, errors %v and %v: %s", line, err, kill, &p.err)
	}
	if err := p.end(); err == nil {
		t.Error("the process ended by itself")
	}
	return strings.TrimSpace(line)
}

// seesTag is what Lance knows of a tag.
const seesTag = `
t = lance.dataset(uri).tags.list().get(tag)
result = t["version"] if t else 0
`

// TestLeaseKilled kills a process that holds a lease. Its tag stays for a day and pins its version, and nothing
// but that; then it goes, by the next reader or by a cleanup.
func TestLeaseKilled(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	for _, by := range []string{"reader", "cleanup"} {
		t.Run(by, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "t")
			made := lance.Make(t, "many_appends", dir, oracle.Table{Fragments: 6, Rows: 10})
			tag := killedHolder(t, dir)
			var version uint64
			lance.Do(t, "run", oracle.Args{"code": seesTag, "uri": dir, "tag": tag}, &version)
			if version != made.Version {
				t.Fatalf("the tag %q is of version %d, not %d", tag, version, made.Version)
			}
			for i := range 4 {
				lance.Do(t, "append", oracle.Args{"uri": dir, "start": made.Next + 10*i, "n": 10}, nil)
			}
			newest := made.Version + 4
			kept := []uint64{made.Version, newest}

			// Its own version is all that it blocks, whoever cleans up.
			almost := func() time.Time { return time.Now().Add(pin.TTL - time.Minute) }
			r := cleanNow(t, dir, cleanup.Options{Abandoned: func(tag string) bool { return pin.Abandoned(tag, almost()) }})
			if got := versionsOf(t, dir); !slices.Equal(got, kept) || r.TagsRemoved != 0 {
				t.Errorf("%+v, left %v", r, got)
			}
			lance.Do(t, "append", oracle.Args{"uri": dir, "start": made.Next + 100, "n": 10}, nil)
			lance.Do(t, "run", oracle.Args{"code": cleansAll, "uri": dir, "strict": false}, nil)
			kept[1]++
			if got := versionsOf(t, dir); !slices.Equal(got, kept) {
				t.Errorf("left %v", got)
			}
			readAs(t, dir, almost, tag, true)

			late := func() time.Time { return time.Now().Add(pin.TTL + time.Minute) }
			o := cleanup.Options{}
			if by == "reader" {
				readAs(t, dir, late, tag, false)
			} else {
				o.Abandoned = func(tag string) bool { return pin.Abandoned(tag, late()) }
			}
			r = cleanNow(t, dir, o)
			if got := versionsOf(t, dir); !slices.Equal(got, kept[1:]) || r.OldVersionsRemoved != 1 || by == "cleanup" && r.TagsRemoved != 1 {
				t.Errorf("%+v, left %v", r, got)
			}
			hasTag(t, dir, tag, false)
			lance.Do(t, "run", oracle.Args{"code": cleansAll, "uri": dir, "strict": true}, nil)
			lance.OnTop(t, dir, made.Next+1000)
		})
	}
}

// readAs takes a lease at some time, and asserts whether a tag is there afterwards.
func readAs(t *testing.T, dir string, now func() time.Time, tag string, want bool) {
	t.Helper()
	s, err := session.New(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tab, err := s.Open(t.Context(), session.Directory(dir))
	if err != nil {
		t.Fatal(err)
	}
	leases := lease.New(lease.Options{Now: now})
	le, err := leases.Take(t.Context(), tab)
	if err != nil {
		t.Fatal(err)
	}
	hasTag(t, dir, tag, want)
	ended(t, leases, le)
}
