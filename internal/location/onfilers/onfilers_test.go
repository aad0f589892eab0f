package onfilers

import (
	"errors"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/catalog"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/location"
)

func TestLocation(t *testing.T) {
	a, b := &Cluster{key: "cluster a:1 "}, &Cluster{key: "cluster b:1 "}
	plain := a.location("/buckets/lab/ml/v", "lab/ml/v", false)
	if plain.String() != "lab/ml/v" {
		t.Errorf("named %s", plain)
	}
	for what, other := range map[string]location.Location{
		"a bucket that begins to encrypt": a.location("/buckets/lab/ml/v", "lab/ml/v", true),
		"another cluster":                 b.location("/buckets/lab/ml/v", "lab/ml/v", false),
		"another directory":               a.location("/buckets/lab/ml/w", "lab/ml/v", false),
	} {
		if location.Key(other) == location.Key(plain) {
			t.Errorf("%s is the same place", what)
		}
	}
	if location.Key(a.Directory("/buckets/lab/ml/v")) != location.Key(plain) {
		t.Error("a table and its directory are two places")
	}
}

func TestRefused(t *testing.T) {
	x := new(Cluster).Table(t.Context(), catalog.Table{Bucket: "lab", Namespace: []string{"ml"}, Name: "v", Refused: "it is being moved"})
	if !errors.Is(x.Err, table.ErrRefused) || location.Valid(x.Location) {
		t.Errorf("%+v", x)
	}
}
