package companion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

// all reads a book from a number on, and returns "name" of each entry and how
// many reports they took.
func (b *book) all(from uint64) (names string, reports int) {
	for {
		r, last := b.after(from)
		if r == nil {
			return names, reports
		}
		for _, o := range r.GetObservations() {
			names += o.GetObjectId()[0] + " "
		}
		from, reports = last, reports+1
	}
}

func TestBookKeepsTheNewest(t *testing.T) {
	var b book
	for _, name := range []string{"a", "b", "c", "a"} {
		b.put("compact", seen(name))
	}
	if got, _ := b.all(0); got != "b c a " {
		t.Errorf("holds %s", got)
	}
	if got, _ := b.all(3); got != "a " {
		t.Errorf("after the third: %s", got)
	}
	if r, last := b.after(4); r != nil || last != 4 {
		t.Errorf("after the last: %v, %d", r, last)
	}
	b.keep(func(id []string) bool { return id[0] != "c" })
	if got, _ := b.all(0); got != "b a " {
		t.Errorf("without c: %s", got)
	}
	b.keep(func([]string) bool { return false })
	if got, _ := b.all(0); got != "" || b.bytes != 0 || len(b.pages) != 0 {
		t.Errorf("empty: %s, %d bytes, %d keys", got, b.bytes, len(b.pages))
	}
}

func TestBookIsBounded(t *testing.T) {
	b := book{objects: 3}
	for i := range 10 {
		b.put("compact", seen(fmt.Sprint(i)))
	}
	if got, _ := b.all(0); got != "7 8 9 " || len(b.pages) != 3 {
		t.Errorf("three of ten: %s", got)
	}
	b = book{size: 1000}
	for i := range 10 {
		o := seen(fmt.Sprint(i))
		o.Attributes = map[string]*plugin_pb.ConfigValue{"schema": {Kind: &plugin_pb.ConfigValue_StringValue{StringValue: strings.Repeat("x", 400)}}}
		b.put("compact", o)
	}
	if got, _ := b.all(0); got != "8 9 " || b.bytes > 1000 {
		t.Errorf("in 1000 bytes: %s, %d", got, b.bytes)
	}
	// One that is too large alone is better than none.
	o := seen("large")
	o.Attributes = map[string]*plugin_pb.ConfigValue{"schema": {Kind: &plugin_pb.ConfigValue_StringValue{StringValue: strings.Repeat("x", 4000)}}}
	b.put("compact", o)
	if got, _ := b.all(0); got != "large " {
		t.Errorf("holds %s", got)
	}
}

func TestReportsAreBounded(t *testing.T) {
	var b book
	for i := range 2*reportObjects + 1 {
		b.put("compact", seen(fmt.Sprint(i)))
	}
	b.put("cleanup", seen("other"))
	if names, reports := b.all(0); strings.Count(names, " ") != 2*reportObjects+2 || reports != 4 {
		t.Errorf("%d reports of %d", reports, strings.Count(names, " "))
	}
	b = book{}
	for i := range 10 {
		o := seen(fmt.Sprint(i))
		o.Attributes = map[string]*plugin_pb.ConfigValue{"schema": {Kind: &plugin_pb.ConfigValue_StringValue{StringValue: strings.Repeat("x", reportBytes/2)}}}
		b.put("compact", o)
	}
	if names, reports := b.all(0); names != "0 1 2 3 4 5 6 7 8 9 " || reports != 10 {
		t.Errorf("%d reports: %s", reports, names)
	}
}
