package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// object prints v as the one object of -json, in one line.
func object(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// size is a number of bytes for people.
func size(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n) / 1024
	u := 0
	for f >= 1023.95 && u < len(units)-1 {
		f /= 1024
		u++
	}
	return fmt.Sprintf("%.1f %ciB", f, units[u])
}

// count is a number and what it counts, in the singular or the plural.
func count[N int | int64 | uint64](n N, one string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return fmt.Sprintf("%s %ss", grouped(int64(n)), one)
}

// grouped writes a number with a comma at every thousand.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// rows prints lines whose cells are separated by tabs as a table.
func rows(w io.Writer, lines ...string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(t, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return t.Flush()
}

// spans writes numbers in ascending order with their runs drawn together: 0-4, 7.
func spans(ids []uint64) string {
	var parts []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] > ids[j] && ids[j+1]-ids[j] == 1 {
			j++
		}
		switch {
		case j == i:
			parts = append(parts, fmt.Sprint(ids[i]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", ids[i], ids[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
