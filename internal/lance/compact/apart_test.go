package compact

import (
	"slices"
	"testing"
)

func TestApart(t *testing.T) {
	large := &group{fields: []int{3, 4, 5, 6, 7}, stretches: make([]stretch, 2), bytes: 10 << 20, rows: 9}
	small := &group{fields: []int{0, 1, 2}, stretches: make([]stretch, 100), bytes: 100 << 10, rows: 9}
	few := &group{fields: []int{8, 9}, bytes: 1 << 30}
	got := apart([]*group{large, small, few}, 2)
	want := [][]int{{3, 4}, {5, 6}, {7}, {0, 1, 2}, {8, 9}}
	bytes := int64(0)
	for i, g := range got {
		if i >= len(want) || !slices.Equal(g.fields, want[i]) {
			t.Fatalf("group %d has fields %v, want %v", i, g.fields, want)
		}
		if i < 3 {
			bytes += g.bytes
			if len(g.stretches) != 2 || g.rows != 9 {
				t.Errorf("group %d: %d stretches, %d rows", i, len(g.stretches), g.rows)
			}
		}
	}
	if len(got) != len(want) || bytes != large.bytes {
		t.Errorf("%d groups, want %d; %d bytes of %d", len(got), len(want), bytes, large.bytes)
	}
}
