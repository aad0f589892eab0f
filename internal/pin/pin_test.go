package pin_test

import (
	"reflect"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

type handle = pin.Handle

// opened is what a public type looks like.
type opened struct {
	handle
	rows int
}

func TestEmbedded(t *testing.T) {
	tab, err := table.Open(t.Context(), lancetest.Copy(t, lancetest.Tables(t)[0], nil))
	if err != nil {
		t.Fatal(err)
	}
	o := &opened{handle: pin.New(pin.Version{Location: "here", Table: tab}), rows: 1}
	if v := pin.Of(o); v.Location != "here" || v.Table != tab {
		t.Errorf("%+v", v)
	}
	// Nothing of it can be seen from outside.
	typ := reflect.TypeFor[*opened]()
	for i := range typ.NumMethod() {
		t.Errorf("method %s", typ.Method(i).Name)
	}
	for i := range typ.Elem().NumField() {
		if f := typ.Elem().Field(i); f.IsExported() {
			t.Errorf("field %s", f.Name)
		}
	}
}
