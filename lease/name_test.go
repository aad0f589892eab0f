package lease

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

func TestTagNames(t *testing.T) {
	at := time.Date(2026, 11, 30, 20, 50, 26, 987654321, time.FixedZone("", 3600))
	s := lancetest.Dir(t, t.TempDir(), nil)
	seen := map[string]bool{}
	for _, host := range []string{"vm-3", "", "a.b.c", "..", "ätsch", "x_y", "a/b", strings.Repeat("long", 30), "a.lock", " \x00\xff"} {
		l := New(Options{Holder: host})
		again := New(Options{Holder: host})
		if l.holder == again.holder {
			t.Errorf("two processes are %s", l.holder)
		}
		tag := l.newTag(at)
		if seen[tag] || tag == l.newTag(at) || len(tag) > 120 {
			t.Errorf("tag %s", tag)
		}
		seen[tag] = true
		n, ok := parseTag(tag)
		if !ok || n.holder != l.holder || !n.since.Equal(at.Truncate(time.Second)) {
			t.Errorf("%s: %+v, %v", tag, n, ok)
		}
		// The rules of Lance are checked there.
		if err := table.CreateTag(context.Background(), s, table.Tag{Name: tag, Version: 1}, 1, at); err != nil {
			t.Error(err)
		}
	}
}

func TestParseTag(t *testing.T) {
	const good = "seaweed-lance-lease_vm-3-5f0c91aa_20261130T195026Z_3d9f40c21b7a65e8"
	if n, ok := parseTag(good); !ok || n.holder != "vm-3-5f0c91aa" || n.since != time.Date(2026, 11, 30, 19, 50, 26, 0, time.UTC) {
		t.Errorf("%+v, %v", n, ok)
	}
	for _, bad := range []string{
		"", "seaweed-lance-lease_", "x" + good, good + "0", good[:len(good)-1], good + "_", strings.Replace(good, "vm-3-5f0c91aa", "", 1),
		strings.Replace(good, "1130", "1330", 1), strings.Replace(good, "Z", "", 1), strings.Replace(good, "lease_", "lease-", 1),
		strings.Replace(good, "3d9f", "3d9g", 1), strings.Replace(good, "vm-3", "vm_3", 1), good + ".json",
	} {
		if n, ok := parseTag(bad); ok {
			t.Errorf("%q: %+v", bad, n)
		}
	}
}
