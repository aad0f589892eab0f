package oracle_test

import (
	"path/filepath"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/oracle"
)

func TestFoldThen(t *testing.T) {
	a := oracle.Fold{Rows: 2, Order: "5", Set: "7"}
	b := oracle.Fold{Rows: 3, Order: "abcdef0123456789", Set: "7fffffffffffffffffffffffffffffff"}
	c := oracle.Fold{Rows: 1, Order: "1", Set: "1"}
	if x, y := a.Then(b).Then(c), a.Then(b.Then(c)); x != y {
		t.Errorf("(ab)c is %+v, a(bc) is %+v", x, y)
	}
	if x, y := a.Then(b), b.Then(a); x.Order == y.Order || x.Set != y.Set || x.Rows != 5 {
		t.Errorf("ab is %+v, ba is %+v", x, y)
	}
	if x := (oracle.Fold{}).Then(a); x.Then(oracle.Fold{}) != x {
		t.Errorf("no rows behind %+v make a difference", x)
	}
}

// TestFoldOfFragments: Go puts folds together as Python makes them.
func TestFoldOfFragments(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	dir := filepath.Join(t.TempDir(), "t")
	lance.Make(t, "deletions", dir, oracle.Table{})
	s := lance.Snapshot(t, dir)
	var all oracle.Fold
	for _, f := range s.Fragments {
		all = all.Then(f.Fold)
	}
	if all != s.Fold || s.Fold.Rows == 0 {
		t.Errorf("fragments make %+v, the table is %+v", all, s.Fold)
	}
}

// TestErrors: a refusal of Lance's leaves the process usable.
func TestErrors(t *testing.T) {
	lance := oracle.Start(t, oracle.Newest)
	if err := lance.Try("snapshot", oracle.Args{"uri": filepath.Join(t.TempDir(), "none")}, nil); err == nil {
		t.Error("a table that is not there was read")
	}
	var v struct{ Lance string }
	lance.Do(t, "versions", nil, &v)
	if v.Lance != string(oracle.Newest) {
		t.Errorf("Lance is %s", v.Lance)
	}
}
