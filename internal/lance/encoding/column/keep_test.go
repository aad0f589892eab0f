package column

import (
	"fmt"
	"testing"
)

func TestCheckRanges(t *testing.T) {
	for _, c := range []struct {
		in   []Range
		n    uint64
		want string
		rows uint64
	}{
		{nil, 0, "[]", 0},
		{nil, 5, "[]", 0},
		{[]Range{{0, 5}}, 5, "[{0 5}]", 5},
		{[]Range{{0, 2}, {2, 3}, {4, 5}}, 5, "[{0 3} {4 5}]", 4},
		{[]Range{{1, 2}, {3, 4}, {4, 5}}, 9, "[{1 2} {3 5}]", 3},
		{[]Range{{0, 6}}, 5, "", 0},
		{[]Range{{2, 2}}, 5, "", 0},
		{[]Range{{3, 2}}, 5, "", 0},
		{[]Range{{2, 4}, {3, 5}}, 5, "", 0},
		{[]Range{{3, 5}, {0, 2}}, 5, "", 0},
		{[]Range{{0, ^uint64(0)}}, 5, "", 0},
	} {
		got, err := CheckRanges(c.in, c.n)
		if (err != nil) != (c.want == "") || err == nil && (fmt.Sprint(got) != c.want || RowsOf(got) != c.rows) {
			t.Errorf("%v of %d: %v, %v", c.in, c.n, got, err)
		}
	}
}
