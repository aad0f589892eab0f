package shell

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/compact"
)

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB",
		1024*1024 - 1: "1.0 MiB", 1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 12: "12 files", 1234: "1,234 files", 1234567: "1,234,567 files", -1234: "-1,234 files"} {
		if got := count(n, "file"); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		ids  []uint64
		want string
	}{
		{nil, ""}, {[]uint64{7}, "7"}, {[]uint64{0, 1, 2}, "0-2"}, {[]uint64{0, 1, 3, 5, 6}, "0-1, 3, 5-6"},
		{[]uint64{5, 4}, "5, 4"}, {[]uint64{1<<64 - 1, 0}, "18446744073709551615, 0"},
	} {
		if got := spans(c.ids); got != c.want {
			t.Errorf("spans(%v) = %q, want %q", c.ids, got, c.want)
		}
	}
}

func TestNotDone(t *testing.T) {
	fine := compact.Left{Fragment: 1, Kind: compact.Fine, Reason: "large enough"}
	unsupported := []compact.Left{{Fragment: 2, Kind: compact.Unsupported, Reason: "has deletions"}, {Fragment: 3, Kind: compact.Unsupported, Reason: "has deletions"}}
	broken := compact.Left{Fragment: 9, Kind: compact.Broken, Reason: "data/x.lance: cut off"}
	for name, c := range map[string]struct {
		left []compact.Left
		done bool
		want string
	}{
		"nothing left":              {nil, false, ""},
		"all fine":                  {[]compact.Left{fine}, false, ""},
		"unsupported, nothing done": {append(unsupported, fine), false, "fragments 2-3: has deletions"},
		"unsupported, others done":  {unsupported, true, ""},
		"broken, others done":       {append(unsupported, broken), true, "fragment 9: data/x.lance: cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			err := notDone(compact.Plan{Left: c.left}, c.done)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want nothing", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			case err != nil && (Env{}).status(err) != Refused:
				t.Errorf("status %d, want %d", (Env{}).status(err), Refused)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	var w bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{w: &w, now: func() time.Time { return now }}
	for range 1000 {
		p.show("half %s", "way")
	}
	if n := strings.Count(w.String(), "half way"); n != 1 {
		t.Errorf("drawn %d times within one moment", n)
	}
	now = now.Add(redraw)
	p.show("more")
	p.done()
	if got := w.String(); !strings.HasSuffix(got, "\rmore\x1b[K\r\x1b[K") {
		t.Errorf("wrote %q", got)
	}
	var none *progress
	none.show("nobody sees this")
	none.done()
}
