package sses3

import (
	"errors"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

// TestProven: a KEK is the cluster's when the filers have it, or when it unwraps
// what is stored; under any other nothing is encrypted.
func TestProven(t *testing.T) {
	f := golden(t)
	other := strings.Repeat("ab", 32)
	at := File{Exists: true, Content: []byte(f.KEK)}
	get := func(s settings, f File) *Keys {
		t.Helper()
		k, err := load(s, f)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	check := func(what string, k *Keys, want bool) {
		t.Helper()
		if _, err := k.NewObject(); k.Likely() != want || errors.Is(err, ErrKeys) == want {
			t.Errorf("%s: likely %v, want %v; an object: %v", what, k.Likely(), want, err)
		}
	}
	check("none", get(settings{}, File{}), false)
	for what, k := range map[string]*Keys{"the filer's": get(settings{}, at), "the filer's, too": get(settings{kek: f.KEK}, at)} {
		if check(what, k, true); k.Proven() {
			t.Errorf("%s: proven by nothing", what)
		}
	}

	k := get(settings{kek: f.KEK}, File{})
	check("ours", k, false)
	for name, e := range map[string]*filer_pb.Entry{
		"plain":        {},
		"no algorithm": {Extended: map[string][]byte{"x-seaweedfs-sse-s3-key": []byte(f.Object)}},
	} {
		if found, err := k.Probe(e); found || err != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	check("after nothing", k, false)
	wrong := get(settings{kek: other}, File{})
	if found, err := wrong.Probe(encrypted(f.Object)); !found || !errors.Is(err, ErrKeys) {
		t.Errorf("another: %v, %v", found, err)
	}
	check("another", wrong, false)
	if found, err := k.Probe(encrypted(f.Object)); !found || err != nil {
		t.Errorf("ours: %v, %v", found, err)
	}
	check("ours, after a probe", k, true)

	read := get(settings{kek: f.KEK}, File{})
	if _, err := read.NewDecoder(&filer_pb.Entry{}, []*filer_pb.FileChunk{chunkOf("7,1", f.Chunks[0].Key)}); err != nil {
		t.Fatal(err)
	}
	check("ours, after a chunk", read, true)

	for what, c := range map[string]struct {
		from, to *Keys
		want     bool
	}{
		"the same":    {k, get(settings{kek: f.KEK}, File{}), true},
		"derived":     {k, get(settings{key: f.Secret}, File{}), true},
		"another":     {k, wrong, false},
		"unproven":    {get(settings{kek: f.KEK}, File{}), get(settings{kek: f.KEK}, File{}), false},
		"the first":   {nil, get(settings{kek: f.KEK}, File{}), false},
		"then none":   {k, get(settings{}, File{}), false},
		"from no key": {get(settings{}, File{}), get(settings{}, File{}), false},
	} {
		c.to.Inherit(c.from)
		check("inherited from "+what, c.to, c.want)
	}
}
