package lanceworker

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

func filers(addresses ...string) *plugin_pb.ClusterContext {
	return &plugin_pb.ClusterContext{FilerAddresses: addresses}
}

func TestLakesKeepTheConnection(t *testing.T) {
	var made []*fakeLake
	var asked [][]string
	l := lakes{connect: func(_ context.Context, f []string) (connection, error) {
		made, asked = append(made, &fakeLake{}), append(asked, f)
		return made[len(made)-1], nil
	}}
	open := func(c *plugin_pb.ClusterContext) func() {
		t.Helper()
		_, release, err := l.open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	open(filers("b:1.2", "a:1.2"))()
	open(filers("a:1.2", " b:1.2", "", "a:1.2"))()
	if len(made) != 1 || !slices.Equal(asked[0], []string{"a:1.2", "b:1.2"}) {
		t.Fatalf("connected %d times, to %v", len(made), asked)
	}
	if made[0].closed != 0 {
		t.Error("closed between two requests")
	}

	// Another filer came, one went: it is the same cluster.
	open(filers("b:1.2", "c:1.2"))()
	open(filers("c:1.2", "b:1.2"))()
	if len(made) != 1 || len(made[0].followed) != 1 || !slices.Equal(made[0].followed[0], []string{"b:1.2", "c:1.2"}) {
		t.Fatalf("%d connections, the first turned to %v", len(made), made[0].followed)
	}

	// Another cluster: the old connection ends with its last user, not before.
	release := open(filers("b:1.2"))
	open(filers("z:1.2"))()
	if len(made) != 2 || made[0].closed != 0 {
		t.Fatalf("%d connections, the first closed %d times while in use", len(made), made[0].closed)
	}
	release()
	release()
	if made[0].closed != 1 || made[1].closed != 0 {
		t.Errorf("closed %d and %d times", made[0].closed, made[1].closed)
	}
}

func TestLakesErrors(t *testing.T) {
	l := lakes{connect: func(context.Context, []string) (connection, error) { return nil, errFake }}
	for _, c := range []*plugin_pb.ClusterContext{nil, filers(), filers(" ", "")} {
		if _, _, err := l.open(t.Context(), c); !errors.Is(err, errNoFiler) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, _, err := l.open(t.Context(), filers("a:1.2")); !errors.Is(err, errFake) {
		t.Errorf("connecting: %v", err)
	}

	// The connection that there was is kept when it can't be turned.
	kept := &fakeLake{unfollowed: errFake}
	l.connect = func(context.Context, []string) (connection, error) { return kept, nil }
	if _, _, err := l.open(t.Context(), filers("a:1.2")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := l.open(t.Context(), filers("a:1.2", "b:1.2")); !errors.Is(err, errFake) {
			t.Errorf("turning: %v", err)
		}
	}
	if len(kept.followed) != 2 || kept.closed != 0 {
		t.Errorf("turned %d times, closed %d times", len(kept.followed), kept.closed)
	}
}
