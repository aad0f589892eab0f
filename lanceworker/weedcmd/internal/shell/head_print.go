package shell

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/lanceworker/internal/render"
)

// jsonRows prints {"columns":[…],"rows":[{…},…]}, row by row: there may be more
// of them than fit into memory.
type jsonRows struct {
	w     *bufio.Writer
	style render.JSON
	b     []byte
	rows  int
}

func newJSONRows(w io.Writer, schema *arrow.Schema, full bool) *jsonRows {
	j := &jsonRows{w: bufio.NewWriter(w), style: render.JSON{Full: full}}
	j.b = append(j.b, `{"columns":[`...)
	for i, f := range schema.Fields() {
		if i > 0 {
			j.b = append(j.b, ',')
		}
		j.b = render.AppendString(j.b, f.Name)
	}
	j.b = append(j.b, `],"rows":[`...)
	return j
}

func (j *jsonRows) batch(r arrow.RecordBatch) error {
	columns, fields := r.Columns(), r.Schema().Fields()
	for i := range int(r.NumRows()) {
		if j.rows++; j.rows > 1 {
			j.b = append(j.b, ',')
		}
		j.b = append(j.b, '{')
		for k, c := range columns {
			if k > 0 {
				j.b = append(j.b, ',')
			}
			j.b = append(render.AppendString(j.b, fields[k].Name), ':')
			j.b = j.style.Append(j.b, c, fields[k], i)
		}
		j.b = append(j.b, '}')
		if err := j.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonRows) flush() error {
	if _, err := j.w.Write(j.b); err != nil {
		return fmt.Errorf("writing the rows: %w", err)
	}
	j.b = j.b[:0]
	return nil
}

func (j *jsonRows) end(_ string, err error) error {
	j.b = append(j.b, ']')
	if err != nil {
		j.b = render.AppendString(append(j.b, `,"changed":false,"error":`...), err.Error())
	}
	j.b = append(j.b, "}\n"...)
	if err := j.flush(); err != nil {
		return err
	}
	if err := j.w.Flush(); err != nil {
		return fmt.Errorf("writing the rows: %w", err)
	}
	return nil
}

const (
	// textCell is the most bytes of one value in a table for people.
	textCell = 64
	// textBlock is after how many rows the widths of columns are set anew, so that
	// not everything has to be kept until the end.
	textBlock = 1000
)

// textRows prints a table for people.
type textRows struct {
	w     *tabwriter.Writer
	style render.Text
	rows  int
	err   error
}

func newTextRows(w io.Writer, schema *arrow.Schema, full bool) *textRows {
	t := &textRows{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), style: render.Text{Null: "null", Bytes: textCell}}
	if full {
		t.style.Bytes = 0
	}
	for i, f := range schema.Fields() {
		t.cell(i, t.style.Name(f.Name))
	}
	if schema.NumFields() > 0 {
		t.write("\n")
	}
	return t
}

func (t *textRows) batch(r arrow.RecordBatch) error {
	for i := range int(r.NumRows()) {
		for k, c := range r.Columns() {
			t.cell(k, t.style.Value(c, r.Schema().Field(k), i))
		}
		t.write("\n")
		if t.rows++; t.rows%textBlock == 0 && t.err == nil {
			t.err = t.w.Flush()
		}
	}
	return t.err
}

func (t *textRows) cell(i int, text string) {
	if i > 0 {
		text = "\t" + text
	}
	t.write(text)
}

func (t *textRows) write(text string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, text)
	}
}

func (t *textRows) end(summary string, err error) error {
	if err == nil {
		t.write("\n" + summary + "\n")
	}
	return firstError(t.err, t.w.Flush())
}
