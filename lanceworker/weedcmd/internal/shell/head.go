package shell

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

var headCommand = subcommand{
	name:  "head",
	args:  "[flags] TABLE",
	short: "the first rows of a table",
	long: `Shows the first live rows in the table's order. What is too long is shortened, and
"…" stands where something is missing; -full shows everything.

With -json integers are numbers of any size, NaN and infinities the strings "NaN",
"Infinity" and "-Infinity", decimals strings, dates and times ISO 8601 strings,
structs objects, a map an array of {"key":…,"value":…}, binary
{"bytes":n,"base64":"…"}.`,
	define: func(flags *flag.FlagSet) action {
		var h head
		h.reading.define(flags)
		n := number(flags, "n", 10, 0, math.MaxInt64, "how many `rows`")
		flags.BoolVar(&h.full, "full", false, "shorten nothing")
		columns := flags.String("columns", "", columnsUsage)
		ids := flags.Bool("row-ids", false, "show each row's address and id as columns _rowaddr and _rowid, too")
		blobs := flags.Bool("blob-bytes", false, "read the bytes of blob columns in place of their descriptors")
		return func(ctx context.Context, c *call, args []string) error {
			limit := uint64(*n)
			names, err := splitColumns(*columns)
			if err != nil {
				return err
			}
			t, done, err := h.open(ctx, c, args)
			if err != nil {
				return h.fail(c, unread(err))
			}
			defer done()
			defer h.pin(ctx, c, t)()
			s, err := scan.Open(ctx, t, scan.Options{
				Columns: names, Limit: &limit, RowAddress: *ids, RowID: *ids,
				BlobBytes: *blobs, BatchRows: int(min(limit, headBatch)),
				Bases: h.bases(ctx),
			})
			if err != nil {
				return h.fail(c, unread(err))
			}
			defer s.Close()
			return unread(h.print(ctx, c.stdout, t, s))
		}
	},
}

// headBatch is how many rows are read at a time at most.
const headBatch = 1024

type head struct {
	reading
	full bool
}

// rowReader is the scan as it is printed.
type rowReader interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.RecordBatch, error)
}

func (h *head) print(ctx context.Context, w io.Writer, t *table.Table, r rowReader) error {
	var p rowPrinter
	if h.json {
		p = newJSONRows(w, r.Schema(), h.full)
	} else {
		p = newTextRows(w, r.Schema(), h.full)
	}
	n := uint64(0)
	err := func() error {
		for {
			batch, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			n += uint64(batch.NumRows())
			err = p.batch(batch)
			batch.Release()
			if err != nil {
				return err
			}
		}
	}()
	// What was read before an error stays on show.
	return firstError(err, p.end(fmt.Sprintf("%s of %s at version %d", grouped(int64(n)), count(t.Rows(), "row"), t.Version()), err))
}

// rowPrinter prints rows as they come.
type rowPrinter interface {
	batch(arrow.RecordBatch) error
	// end prints what comes after the rows; summary is for people.
	end(summary string, err error) error
}
