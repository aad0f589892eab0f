package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"

	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
)

var pagesCommand = subcommand{
	name:  "pages",
	args:  "[flags] TABLE",
	short: "how the values of a table are encoded",
	long: `Shows for each column how its pages are laid out and encoded, how many there are,
and how many rows and bytes they hold; with -json every page of every data file.
Only the metadata of the data files is read.`,
	define: func(flags *flag.FlagSet) action {
		var r reading
		r.define(flags)
		columns := flags.String("columns", "", columnsUsage)
		return func(ctx context.Context, c *call, args []string) error {
			names, err := splitColumns(*columns)
			if err != nil {
				return err
			}
			t, done, err := r.open(ctx, c, args)
			if err != nil {
				return r.fail(c, unread(err))
			}
			defer done()
			files := scan.Pages(ctx, t, scan.Options{Columns: names, Bases: r.bases(ctx)})
			if r.json {
				return unread(printPagesJSON(c.stdout, files))
			}
			return unread(printPages(c.stdout, files))
		}
	},
}

type filePagesObject struct {
	Fragment uint64       `json:"fragment"`
	File     string       `json:"file"`
	Version  string       `json:"version"`
	Pages    []pageObject `json:"pages"`
}

type pageObject struct {
	Column   string `json:"column"`
	Number   int    `json:"column_number"`
	Page     int    `json:"page"`
	Rows     uint64 `json:"rows"`
	Bytes    uint64 `json:"bytes"`
	Layout   string `json:"layout"`
	Encoding string `json:"encoding"`
}

// printPagesJSON prints {"files":[…]}, file by file.
func printPagesJSON(w io.Writer, files iter.Seq2[scan.FilePages, error]) error {
	b := bufio.NewWriter(w)
	b.WriteString(`{"files":[`)
	var failed error
	n := 0
	for f, err := range files {
		if err != nil {
			failed = err
			break
		}
		o := filePagesObject{Fragment: f.Fragment, File: f.File, Version: fmt.Sprintf("%d.%d", f.Major, f.Minor), Pages: make([]pageObject, 0, len(f.Pages))}
		for _, p := range f.Pages {
			o.Pages = append(o.Pages, pageObject{Column: p.Path, Number: p.Column, Page: p.Page, Rows: p.Rows, Bytes: p.Bytes, Layout: p.Layout, Encoding: p.Encoding})
		}
		text, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("encoding the result: %w", err)
		}
		if n++; n > 1 {
			b.WriteByte(',')
		}
		b.Write(text)
	}
	b.WriteString("]")
	if failed != nil {
		text, err := json.Marshal(failed.Error())
		if err != nil {
			return fmt.Errorf("encoding the result: %w", err)
		}
		fmt.Fprintf(b, `,"changed":false,"error":%s`, text)
	}
	b.WriteString("}\n")
	// A writer that failed once says so here.
	if err := b.Flush(); err != nil && failed == nil {
		failed = fmt.Errorf("writing the result: %w", err)
	}
	return failed
}

// pageGroup are the pages of one column that are encoded alike.
type pageGroup struct {
	column, layout, encoding string
}

type pageSums struct {
	pages       int
	rows, bytes uint64
}

// maxEncodings bounds how many kinds of pages are shown of one column: bit
// widths alone make many.
const maxEncodings = 12

// printPages sums up what is alike.
func printPages(w io.Writer, files iter.Seq2[scan.FilePages, error]) error {
	var columns []string
	kinds := make(map[string][]pageGroup)
	sums := make(map[pageGroup]*pageSums)
	n := 0
	var failed error
	for f, err := range files {
		if err != nil {
			failed = err
			break
		}
		n++
		for _, p := range f.Pages {
			g := pageGroup{p.Path, p.Layout, p.Encoding}
			if sums[g] == nil {
				if _, known := kinds[p.Path]; !known {
					columns = append(columns, p.Path)
				}
				if len(kinds[p.Path]) >= maxEncodings {
					g = pageGroup{column: p.Path, encoding: "other encodings"}
				}
			}
			if sums[g] == nil {
				sums[g] = new(pageSums)
				kinds[p.Path] = append(kinds[p.Path], g)
			}
			sums[g].pages++
			sums[g].rows += p.Rows
			sums[g].bytes += p.Bytes
		}
	}
	list := []string{"column\tpages\trows\tsize\tlayout\tencoding"}
	for _, c := range columns {
		for _, g := range kinds[c] {
			s := sums[g]
			list = append(list, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", plain(c), grouped(int64(s.pages)), grouped(int64(s.rows)), size(int64(s.bytes)), g.layout, g.encoding))
		}
	}
	list = append(list, "\n"+count(n, "data file"))
	return firstError(failed, rows(w, list...))
}
