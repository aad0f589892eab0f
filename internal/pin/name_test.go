package pin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/lancetest"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/pin"
)

func TestNewTag(t *testing.T) {
	at := time.Date(2026, 11, 30, 20, 50, 26, 987654321, time.FixedZone("", 3600))
	s := lancetest.Dir(t, t.TempDir(), nil)
	seen := map[string]bool{}
	for _, host := range []string{"vm-3", "", "a.b.c", "..", "ätsch", "x_y", "a/b", strings.Repeat("long", 30), "a.lock", " \x00\xff"} {
		holder, other := pin.NewHolder(host), pin.NewHolder(host)
		if holder == other {
			t.Errorf("two processes are %s", holder)
		}
		tag := pin.NewTag(holder, at)
		if seen[tag] || tag == pin.NewTag(holder, at) || len(tag) > 120 {
			t.Errorf("tag %s", tag)
		}
		seen[tag] = true
		n, ok := pin.ParseTag(tag)
		if !ok || n.Holder != holder || !n.Since.Equal(at.Truncate(time.Second)) {
			t.Errorf("%s: %+v, %v", tag, n, ok)
		}
		// The rules of Lance are checked there.
		if err := table.CreateTag(t.Context(), s, table.Tag{Name: tag, Version: 1}, 1, at); err != nil {
			t.Error(err)
		}
	}
}

const (
	ours   = "seaweed-lance-lease_vm-3-5f0c91aa_20261130T195026Z_3d9f40c21b7a65e8"
	theirs = "weed-vector-query-0123456789abcdef0123456789abcdef-1796068226123456789-fedcba9876543210fedcba9876543210"
	older  = "weed-vector-query-1796068226123456789-fedcba9876543210fedcba9876543210"
	digits = "weed-vector-query-00000000000000001796068226123456-1796068226123456789-12345678901234567890123456789012"
)

func TestParseTag(t *testing.T) {
	vector := time.Unix(1796068226, 123456789)
	for tag, want := range map[string]pin.Tag{
		ours:   {Holder: "vm-3-5f0c91aa", Since: time.Date(2026, 11, 30, 19, 50, 26, 0, time.UTC)},
		theirs: {Since: vector},
		older:  {Since: vector},
		// An instance of digits is no time.
		digits: {Since: vector},
		"weed-vector-query-0-fedcba9876543210fedcba9876543210": {Since: time.Unix(0, 0)},
	} {
		if got, ok := pin.ParseTag(tag); !ok || got.Holder != want.Holder || !got.Since.Equal(want.Since) {
			t.Errorf("%s: %+v, %v", tag, got, ok)
		}
	}
	change := func(in, from, to string) string {
		if strings.Count(in, from) == 0 {
			t.Fatalf("no %s in %s", from, in)
		}
		return strings.Replace(in, from, to, 1)
	}
	for _, bad := range []string{
		"", "seaweed-lance-lease_", "x" + ours, ours + "0", ours[:len(ours)-1], ours + "_", change(ours, "vm-3-5f0c91aa", ""),
		change(ours, "1130", "1330"), change(ours, "Z", ""), change(ours, "26Z", "26.5Z"), change(ours, "lease_", "lease-"),
		change(ours, "3d9f", "3d9g"), change(ours, "3d9f", "3D9F"), change(ours, "vm-3", "vm_3"), ours + ".json",

		"weed-vector-query-", "weed-vector-query-1796068226123456789", "weed-vector-query--1796068226123456789-fedcba9876543210fedcba9876543210",
		"x" + theirs, theirs + "0", theirs[:len(theirs)-1], theirs + "-0", change(theirs, "query-", "query_"), change(theirs, "0123", "012"),
		change(theirs, "abcdef-", "abcdeg-"), change(theirs, "abcdef-", "abcdeF-"), change(theirs, "fedcba98", "fedcba9x"),
		change(older, "179606", "0179606"), change(older, "179606", "+179606"), change(older, "179606", "a79606"), change(older, "179606", "1_79606"),
		change(older, "1796068226123456789", "99999999999999999999"), change(older, "1796068226123456789", ""), change(older, "1796068226123456789", "1796068226.5"),
		change(older, "179606", "-179606"), change(older, "1796068226123456789-", ""),
	} {
		if n, ok := pin.ParseTag(bad); ok {
			t.Errorf("%q: %+v", bad, n)
		}
		if pin.Abandoned(bad, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%q is abandoned", bad)
		}
	}
}

// The age is by the name, and a day is not yet too old.
func TestAbandoned(t *testing.T) {
	for _, tag := range []string{ours, theirs, older, digits} {
		n, _ := pin.ParseTag(tag)
		for age, want := range map[time.Duration]bool{
			-time.Hour: false, 0: false, 24 * time.Hour: false, 24*time.Hour + 1: true, 24 * 365 * time.Hour: true,
		} {
			if got := pin.Abandoned(tag, n.Since.Add(age)); got != want {
				t.Errorf("%s after %v: %v", tag, age, got)
			}
		}
		// Ages beyond what a Duration holds.
		if !pin.Abandoned(tag, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)) || pin.Abandoned(tag, time.Time{}) {
			t.Errorf("%s at the ends of time", tag)
		}
	}
	if fmt.Sprint(pin.TTL) != "24h0m0s" {
		t.Errorf("TTL %v", pin.TTL)
	}
}
