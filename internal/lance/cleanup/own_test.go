package cleanup

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// Of what is asked for and what the table says itself, that counts which keeps more.
func TestOwnPolicy(t *testing.T) {
	const older, versionsKept = "lance.auto_cleanup.older_than", "lance.auto_cleanup.retain_versions"
	tests := []struct {
		name   string
		p      Policy
		config []string
		oldest uint64 // that stays, of eleven, each an hour older than the next
		went   Policy
	}{
		{"nothing of its own", Policy{Retain: 5*time.Hour + 1, MinVersions: 2}, []string{"lance.auto_cleanup.interval", "x"}, 6, Policy{5*time.Hour + 1, 2}},
		{"more versions", Policy{MinVersions: 2}, []string{versionsKept, "4"}, 8, Policy{0, 4}},
		{"fewer versions", Policy{MinVersions: 4}, []string{versionsKept, "2"}, 8, Policy{0, 4}},
		{"longer", Policy{Retain: time.Hour}, []string{older, "3h"}, 8, Policy{3 * time.Hour, 1}},
		{"shorter", Policy{Retain: 3 * time.Hour}, []string{older, "0"}, 8, Policy{3 * time.Hour, 1}},
		{"each the more of one", Policy{Retain: 3 * time.Hour, MinVersions: 1}, []string{older, "1s", versionsKept, "7"}, 5, Policy{3 * time.Hour, 7}},
		{"as Lance writes it", Policy{}, []string{older, "5h 29m 59s"}, 6, Policy{5*time.Hour + 29*time.Minute + 59*time.Second, 1}},
		{"for ever", Policy{}, []string{older, "1000years"}, 1, Policy{1<<63 - 1, 1}},
		{"more than there are", Policy{}, []string{versionsKept, "18446744073709551615"}, 1, Policy{0, 1<<31 - 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := hourly(t, table.NamingV2, func(w *world) { w.config(tt.config...) })
			before := versions(t, w.s)
			d, err := detect(t.Context(), w.s, tt.p, start)
			if err != nil {
				t.Fatal(err)
			}
			res := clean(t, w.s, tt.p)
			after := versions(t, w.s)
			if after[0] != tt.oldest || res.Policy != tt.went {
				t.Errorf("left: %v; went by %+v", after, res.Policy)
			}
			if d.Due != (len(after) < len(before)) {
				t.Errorf("detected %+v, %d of %d versions went", d, len(before)-len(after), len(before))
			}
			checkIdle(t, w.s, tt.p)
		})
	}
	for _, config := range [][]string{{older, "a week"}, {older, "7"}, {versionsKept, "0"}, {versionsKept, "-1"}} {
		w := hourly(t, table.NamingV2, func(w *world) { w.config(config...) })
		s := faultstore.New(w.s, nil)
		before := versions(t, w.s)
		_, err := Run(t.Context(), s, options(Policy{}))
		_, looked := detect(t.Context(), w.s, Policy{}, start)
		for _, err := range []error{err, looked} {
			if !errors.Is(err, table.ErrRefused) || !strings.Contains(err.Error(), config[0]) || !strings.Contains(err.Error(), `"`+config[1]+`"`) {
				t.Errorf("%v: %v", config, err)
			}
		}
		if n := s.Count(faultstore.Delete, faultstore.Publish, faultstore.Replace, faultstore.Create); n != 0 || !slices.Equal(before, versions(t, w.s)) {
			t.Errorf("%v: something was done: %v", config, s.Calls())
		}
	}
}
