package shell

import (
	"errors"
	"slices"
	"testing"
)

func TestSplitColumns(t *testing.T) {
	for _, c := range []struct {
		list string
		want []string
		bad  bool
	}{
		{"", nil, false},
		{"a", []string{"a"}, false},
		{"a,b.c, d", []string{"a", "b.c", "d"}, false},
		{`"a,b",c`, []string{"a,b", "c"}, false},
		{`a"b,c`, []string{`a"b`, "c"}, false},
		{`"say ""a""",c`, []string{`say "a"`, "c"}, false},
		{"a,,b", []string{"a", "b"}, false},
		{",", nil, true},
	} {
		got, err := splitColumns(c.list)
		if !slices.Equal(got, c.want) || errors.Is(err, ErrUsage) != c.bad {
			t.Errorf("%s: %q, error %v", c.list, got, err)
		}
	}
}
