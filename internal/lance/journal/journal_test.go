package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newStore(t *testing.T) *dirstore.Store {
	t.Helper()
	s, err := dirstore.New(t.TempDir(), dirstore.Options{NoSync: true, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s objects.Store, name, content string) {
	t.Helper()
	if err := s.Replace(t.Context(), name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func TestParseName(t *testing.T) {
	const id = "0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d"
	for name, want := range map[string]Kind{
		"rewrite-" + id + ".json": Rewrite,
		"reserve-" + id + ".json": Reserve,
		"cleanup-" + id + ".json": Cleanup,

		"":                              "",
		".json":                         "",
		"rewrite":                       "",
		"rewrite-.json":                 "",
		"rewrite-" + id:                 "",
		"rewrite-" + id + ".json.tmp":   "",
		"rewrite-" + id + ".JSON":       "",
		"Rewrite-" + id + ".json":       "",
		"sort-" + id + ".json":          "",
		"-" + id + ".json":              "",
		id + ".json":                    "",
		"rewrite-" + id[1:] + ".json":   "",
		"rewrite-x" + id[1:] + ".json":  "",
		".tmp-rewrite-" + id + ".json":  "",
		"rewrite-" + id + "-1.json":     "",
		"cleanup-../../" + id + ".json": "",
	} {
		kind, got, ok := parseName(name)
		if ok != (want != "") || ok && (kind != want || got != id) {
			t.Errorf("%q: %q, %q, %t", name, kind, got, ok)
		}
	}
}

func TestWriteAndList(t *testing.T) {
	s := newStore(t)
	if records, err := List(t.Context(), s); err != nil || len(records) != 0 {
		t.Errorf("no directory: %v, error %v", records, err)
	}
	a := New(Rewrite, now)
	a.Version, a.Fragments, a.Files = 7, []uint64{3, 4}, []string{"data/x.lance", "_transactions/7-u.txn"}
	a.Holder.Run = "run"
	b := New(Cleanup, now.Add(time.Hour))
	b.Manifests = []Manifest{{Version: 3, Name: "_versions/3.manifest", Content: []byte{0, 1, 255}}}
	c := New(Reserve, now)
	for _, r := range []*Record{a, b, c} {
		if err := r.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if err := r.Write(t.Context(), s); !errors.Is(err, objects.ErrExists) {
			t.Errorf("%s written twice: error %v", r.Name(), err)
		}
	}
	got, err := List(t.Context(), s)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v, error %v", got, err)
	}
	for _, want := range []*Record{a, b, c} {
		i := slices.IndexFunc(got, func(r *Record) bool { return r.ID == want.ID })
		if i < 0 {
			t.Errorf("%s is not listed", want.Name())
			continue
		}
		r := *got[i]
		if r.ModTime.IsZero() {
			t.Errorf("%s has no time", r.Name())
		}
		r.ModTime = time.Time{}
		if fmt.Sprintf("%+v", r) != fmt.Sprintf("%+v", *want) || r.Name() != want.Name() {
			t.Errorf("read %+v, wrote %+v", r, *want)
		}
	}
	if err := a.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := a.Remove(t.Context(), s); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	if got, err = List(t.Context(), s); err != nil || len(got) != 2 {
		t.Errorf("%v, error %v", got, err)
	}
}

// Touching makes a record younger and nothing else.
func TestTouch(t *testing.T) {
	s := newStore(t)
	r := New(Rewrite, now)
	if err := r.Write(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	before, err := List(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	old := now
	now = now.Add(time.Minute)
	defer func() { now = old }()
	if err := r.Touch(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	after, err := List(t.Context(), s)
	if err != nil || len(after) != 1 {
		t.Fatalf("%v, error %v", after, err)
	}
	if d := after[0].ModTime.Sub(before[0].ModTime); d < 59*time.Second || !after[0].Time.Equal(before[0].Time) {
		t.Errorf("younger by %s, made at %s and %s", d, before[0].Time, after[0].Time)
	}
}

// What is not a record of this format is somebody else's.
func TestForeignFiles(t *testing.T) {
	s := newStore(t)
	id := uuid.NewString()
	name := func(kind string) string { return Dir + "/" + kind + "-" + uuid.NewString() + ".json" }
	put(t, s, Dir+"/readme.txt", "hello")
	put(t, s, Dir+"/sort-"+id+".json", `{"format":1,"kind":"sort","id":"`+id+`"}`)
	put(t, s, name("rewrite"), "")
	put(t, s, name("rewrite"), "[]")
	put(t, s, name("rewrite"), `{"format":1`)
	put(t, s, name("rewrite"), `{"format":1,"kind":"rewrite","id":"`+id+`"}`)            // another's name
	put(t, s, Dir+"/cleanup-"+id+".json", `{"format":1,"kind":"rewrite","id":"`+id+`"}`) // another's kind
	put(t, s, Dir+"/rewrite-"+id+".json", `{"format":2,"kind":"rewrite","id":"`+id+`"}`) // of tomorrow
	put(t, s, Dir+"/rewrite-"+uuid.NewString()+".json/x", "a directory")
	for _, file := range []string{"../x", "/etc/passwd", "data/../../x", ""} {
		id := uuid.NewString()
		put(t, s, Dir+"/rewrite-"+id+".json", `{"format":1,"kind":"rewrite","id":"`+id+`","files":["`+file+`"]}`)
	}
	if got, err := List(t.Context(), s); err != nil || len(got) != 0 {
		t.Errorf("%v, error %v", got, err)
	}
	id = uuid.NewString()
	put(t, s, Dir+"/rewrite-"+id+".json", `{"format":1,"kind":"rewrite","id":"`+id+`","tomorrow":[1]}`)
	if got, err := List(t.Context(), s); err != nil || len(got) != 1 {
		t.Errorf("%v, error %v", got, err)
	}
}

func TestListStoreFails(t *testing.T) {
	s := newStore(t)
	for range 3 {
		if err := New(Reserve, now).Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	boom := errors.New("boom")
	for name, hook := range map[string]faultstore.Hook{
		"list":  faultstore.When(faultstore.On(faultstore.Before, faultstore.List, Dir), faultstore.Fail(boom)),
		"short": faultstore.When(faultstore.On(faultstore.After, faultstore.List, Dir), faultstore.Short(1, boom)),
		"open":  faultstore.Nth(1, faultstore.On(faultstore.Before, faultstore.Open, Dir), faultstore.Fail(boom)),
		"read":  faultstore.Nth(2, faultstore.On(faultstore.Before, faultstore.Read, Dir), faultstore.Fail(boom)),
	} {
		if got, err := List(t.Context(), faultstore.New(s, hook)); !errors.Is(err, boom) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
	gone := faultstore.Nth(1, faultstore.On(faultstore.Before, faultstore.Open, Dir), faultstore.Fail(objects.ErrNotFound))
	if got, err := List(t.Context(), faultstore.New(s, gone)); err != nil || len(got) != 2 {
		t.Errorf("one is removed while the list is made: %v, error %v", got, err)
	}
	for _, op := range []faultstore.Op{faultstore.Publish, faultstore.Replace, faultstore.Delete} {
		bad := faultstore.New(s, faultstore.When(faultstore.On(faultstore.Before, op, Dir), faultstore.Fail(boom)))
		r := New(Reserve, now)
		err := map[faultstore.Op]error{
			faultstore.Publish: r.Write(t.Context(), bad), faultstore.Replace: r.Touch(t.Context(), bad), faultstore.Delete: r.Remove(t.Context(), bad),
		}[op]
		if !errors.Is(err, boom) || !strings.Contains(err.Error(), r.ID) {
			t.Errorf("%s fails: error %v", op, err)
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("rewrite-0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d.json")
	f.Add("cleanup-{0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d}.json")
	f.Add("reserve-urn:uuid:0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d.json")
	f.Fuzz(func(t *testing.T, name string) {
		kind, id, ok := parseName(name)
		if ok && string(kind)+"-"+id+".json" != name {
			t.Errorf("%q: kind %q, id %q", name, kind, id)
		}
	})
}
