package array

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestPages looks at the encodings that real Lance chose: without them the other
// tests would prove nothing.
func TestPages(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range kinds {
		fx := readFixture(t, "14.0.2", kind)
		for _, field := range fields(fx.rows.Schema()) {
			r, err := Open(fx.file, field)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Pages() {
				if p.Layout != "array" || !strings.HasPrefix(p.Path, field.Name) {
					t.Errorf("page %+v", p)
				}
				seen[p.Encoding] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(seen))
	t.Logf("encodings:\n%s", strings.Join(all, "\n"))
	for _, want := range []string{
		"nullable(all)",
		"nullable(flat(1))",
		"nullable(flat(1), flat(32))",
		"nullable(flat(1), flat(256))",
		"nullable(flat(1), fixed-size-list(7, nullable(flat(1), flat(32))))",
		"list(nullable(flat(64)))",
		"struct",
		"binary(nullable(flat(64)), flat(8))",
		"binary(nullable(flat(64)), general(zstd, flat(8)))",
		"binary(nullable(flat(64)), general(lz4, flat(8)))",
		"fsst(binary(nullable(flat(64)), flat(8)))",
		"dictionary(nullable(flat(8)), binary(nullable(flat(64)), flat(8)))",
	} {
		if !seen[want] {
			t.Errorf("no page is %s", want)
		}
	}
}
