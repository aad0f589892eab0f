package shell

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// print shows a report to people.
func (r *Report) print(w io.Writer) error {
	lines := []string{
		"table\t" + r.Table,
		fmt.Sprintf("version\t%d, made %s%s", r.Version, r.Created.Format(time.RFC3339), prefixed(" by ", r.Writer)),
		fmt.Sprintf("versions\t%s%s", grouped(int64(r.Versions)), r.detached()),
		fmt.Sprintf("data files\tLance %s, manifests named in scheme %s", r.FileVersion, r.Naming),
		fmt.Sprintf("flags\treader %d, writer %d, %s", r.ReaderFlags, r.WriterFlags, r.rowIDs()),
		fmt.Sprintf("rows\t%s, and %s deleted", grouped(int64(r.Rows)), grouped(int64(r.DeletedRows))),
		fmt.Sprintf("fragments\t%s, of %s with %s", grouped(int64(r.Fragments)), count(r.DataFiles, "data file"), size(int64(r.DataBytes))),
		fmt.Sprintf("stored\t%s, %s", count(r.Stored.Files, "file"), size(r.Stored.Bytes)),
	}
	if r.Refused != "" {
		lines = append(lines, "not maintained\t"+r.Refused)
	}
	for _, b := range r.BasePaths {
		lines = append(lines, "base path\t"+b)
	}
	for _, k := range slices.Sorted(maps.Keys(r.Config)) {
		lines = append(lines, fmt.Sprintf("config\t%s = %s", k, r.Config[k]))
	}
	if err := rows(w, lines...); err != nil {
		return err
	}
	return r.printLists(w)
}

func (r *Report) printLists(w io.Writer) error {
	list := []string{"\ncolumn\ttype\tnulls"}
	for _, c := range r.Columns {
		nulls := "no"
		if c.Nullable {
			nulls = "yes"
		}
		list = append(list, fmt.Sprintf("%s\t%s\t%s", c.Name, c.Type, nulls))
	}
	if err := rows(w, list...); err != nil {
		return err
	}
	if len(r.Indices) > 0 {
		list = []string{"\nindex\tcolumns\ttype\tfragments\tsize\tmade on version"}
		for _, i := range r.Indices {
			list = append(list, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%d", i.Name, strings.Join(i.Columns, ", "), i.Type, i.coverage(r.Fragments), i.size(), i.DatasetVersion))
		}
		if err := rows(w, list...); err != nil {
			return err
		}
	}
	if len(r.Tags) > 0 {
		list = []string{"\ntag\tversion"}
		for _, t := range r.Tags {
			list = append(list, fmt.Sprintf("%s\t%d%s", t.Name, t.Version, prefixed(" of branch ", t.Branch)))
		}
		if err := rows(w, list...); err != nil {
			return err
		}
	}
	if len(r.Branches) > 0 {
		list = []string{"\nbranch\tfrom version"}
		for _, b := range r.Branches {
			list = append(list, fmt.Sprintf("%s\t%d%s", b.Name, b.ParentVersion, prefixed(" of branch ", b.ParentBranch)))
		}
		return rows(w, list...)
	}
	return nil
}

func (r *Report) detached() string {
	if r.DetachedVersions == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d detached", r.DetachedVersions)
}

func (r *Report) rowIDs() string {
	if r.StableRowIDs {
		return "stable row ids"
	}
	return "row addresses"
}

func (i Index) coverage(fragments int) string {
	if i.Covered < 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d of %d", i.Covered, fragments)
}

// size of an index, which old releases did not record.
func (i Index) size() string {
	if i.Bytes == 0 {
		return "unknown"
	}
	return size(int64(i.Bytes))
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
