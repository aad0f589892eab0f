package demo

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd/internal/shell"
)

// state is the table at one moment.
type state struct {
	rows, version              uint64
	fragments, versions, files int
	bytes                      int64
}

func measure(ctx context.Context, s objects.Store) (state, error) {
	r, err := shell.Inspect(ctx, s)
	if err != nil {
		return state{}, fmt.Errorf("inspecting %s: %w", s, err)
	}
	return state{
		rows: r.Rows, version: r.Version, fragments: r.Fragments, versions: r.Versions,
		files: r.Stored.Files, bytes: r.Stored.Bytes,
	}, nil
}

// printer keeps the first error, so that it is looked at once.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); err != nil && p.err == nil {
		p.err = err
	}
}

// compare shows two states side by side.
func (p *printer) compare(before, after state) {
	t := tabwriter.NewWriter(p.w, 0, 0, 3, ' ', tabwriter.AlignRight)
	row := func(what string, a, b any) { fmt.Fprintf(t, "%s\t%v\t%v\t\n", what, a, b) }
	fmt.Fprintln(t)
	row("", "before", "after")
	row("rows", before.rows, after.rows)
	row("fragments", before.fragments, after.fragments)
	row("versions", before.versions, after.versions)
	row("files", before.files, after.files)
	row("bytes", before.bytes, after.bytes)
	if err := t.Flush(); err != nil && p.err == nil {
		p.err = err
	}
}
