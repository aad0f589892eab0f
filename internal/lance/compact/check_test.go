package compact

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// content is what a fragment holds: for each column of today's schema its
// pages, and for each row its id and versions.
type content struct {
	rows    uint64
	columns map[int32][]page
	lineage lineage
}

type page struct {
	priority, length uint64
	encoding         string
	buffers          []string // hashes of their bytes
}

type lineage struct{ ids, created, updated []uint64 }

// contentOf reads a fragment whole. It fails the test when a file does not fit
// what the manifest says of it.
func contentOf(tb testing.TB, t *table.Table, f *pb.DataFragment) content {
	tb.Helper()
	c, err := readContent(t, f)
	if err != nil {
		tb.Fatalf("version %d, fragment %d: %v", t.Version(), f.GetId(), err)
	}
	return c
}

func readContent(t *table.Table, f *pb.DataFragment) (content, error) {
	c := content{rows: f.GetPhysicalRows(), columns: make(map[int32][]page)}
	live := make(map[int32]bool)
	for _, field := range t.Manifest().GetFields() {
		live[field.GetId()] = true
	}
	for _, d := range f.GetFiles() {
		file, err := datafile.Open(context.Background(), t.Store(), "data/"+d.GetPath())
		if err != nil {
			return c, err
		}
		err = c.addFile(file, d, live, f.GetPhysicalRows())
		file.Close()
		if err != nil {
			return c, fmt.Errorf("%s: %w", d.GetPath(), err)
		}
	}
	if t.StableRowIDs() {
		var err error
		if c.lineage, err = lineageOf(f); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *content) addFile(file *datafile.File, d *pb.DataFile, live map[int32]bool, rows uint64) error {
	if n := file.Reader.Entry().Size; d.GetFileSizeBytes() != 0 && d.GetFileSizeBytes() != uint64(n) {
		return fmt.Errorf("%d bytes, the manifest says %d", n, d.GetFileSizeBytes())
	}
	if file.Descriptor.GetLength() != rows {
		return fmt.Errorf("%d rows, the manifest says %d", file.Descriptor.GetLength(), rows)
	}
	if v := table.NormalVersion(file.Major, file.Minor); v != table.DataFileVersion(d) {
		return fmt.Errorf("footer of version %s, the manifest says %s", v, table.DataFileVersion(d))
	}
	for i, id := range d.GetFields() {
		if !live[id] || c.columns[id] != nil { // the first file counts
			continue
		}
		column := file.Columns[d.GetColumnIndices()[i]]
		pages := []page{}
		for _, p := range column.GetPages() {
			x := page{priority: p.GetPriority(), length: p.GetLength(), encoding: p.GetEncoding().String()}
			for k, off := range p.GetBufferOffsets() {
				b := make([]byte, p.GetBufferSizes()[k])
				if err := file.Reader.ReadAt(context.Background(), b, int64(off)); err != nil {
					return err
				}
				x.buffers = append(x.buffers, fmt.Sprintf("%d %x", len(b), sha256.Sum256(b)))
			}
			pages = append(pages, x)
		}
		c.columns[id] = pages
	}
	return nil
}

// joinHeaders makes one page of a struct's own pages in 2.0, which only count
// structs: readers want a struct counted in one.
func joinHeaders(pages []page) []page {
	var out []page
	for _, p := range pages {
		if n := len(out); n > 0 && isStruct(p) && isStruct(out[n-1]) {
			out[n-1].length += p.length
			continue
		}
		out = append(out, p)
	}
	return out
}

// isStruct: no buffers, and an ArrayEncoding whose only field is number 5, of
// no bytes.
func isStruct(p page) bool {
	return len(p.buffers) == 0 && strings.Contains(p.encoding, "ArrayEncoding") && strings.Contains(p.encoding, `*\x00`)
}

// lineageOf takes the row ids and versions of a fragment, one by one, with the
// defaults of the format.
func lineageOf(f *pb.DataFragment) (lineage, error) {
	var l lineage
	ids := new(pb.RowIdSequence)
	if err := proto.Unmarshal(f.GetInlineRowIds(), ids); err != nil {
		return l, err
	}
	for _, s := range ids.GetSegments() {
		l.ids = append(l.ids, valuesOf(s)...)
	}
	versions := func(raw []byte) (out []uint64, err error) {
		seq := new(pb.RowDatasetVersionSequence)
		if err := proto.Unmarshal(raw, seq); err != nil {
			return nil, err
		}
		for _, r := range seq.GetRuns() {
			out = append(out, slices.Repeat([]uint64{r.GetVersion()}, len(valuesOf(r.GetSpan())))...)
		}
		return out, nil
	}
	var err error
	l.created = slices.Repeat([]uint64{1}, int(f.GetPhysicalRows()))
	if raw := f.GetInlineCreatedAtVersions(); raw != nil {
		if l.created, err = versions(raw); err != nil {
			return l, err
		}
	}
	l.updated = l.created
	if raw := f.GetInlineLastUpdatedAtVersions(); raw != nil {
		l.updated, err = versions(raw)
	}
	if n := int(f.GetPhysicalRows()); len(l.ids) != n || len(l.created) != n || len(l.updated) != n {
		return l, fmt.Errorf("%d row ids, %d and %d versions for %d rows", len(l.ids), len(l.created), len(l.updated), n)
	}
	return l, err
}

// valuesOf reads a segment of row ids.
func valuesOf(s *pb.U64Segment) (out []uint64) {
	array := func(a *pb.EncodedU64Array) (v []uint64) {
		narrow, width := a.GetU16Array(), 2
		if narrow == nil {
			narrow, width = a.GetU32Array(), 4
		}
		for b := narrow.GetOffsets(); len(b) > 0; b = b[width:] {
			var p [8]byte
			copy(p[:], b[:width])
			v = append(v, narrow.GetBase()+binary.LittleEndian.Uint64(p[:]))
		}
		for b := a.GetU64Array().GetValues(); len(b) > 0; b = b[8:] {
			v = append(v, binary.LittleEndian.Uint64(b))
		}
		return v
	}
	if r := s.GetRange(); r != nil {
		for v := r.GetStart(); v < r.GetEnd(); v++ {
			out = append(out, v)
		}
	}
	if r := s.GetRangeWithHoles(); r != nil {
		holes := array(r.GetHoles())
		for v := r.GetStart(); v < r.GetEnd(); v++ {
			if !slices.Contains(holes, v) {
				out = append(out, v)
			}
		}
	}
	if r := s.GetRangeWithBitmap(); r != nil {
		for i := range r.GetEnd() - r.GetStart() {
			if r.GetBitmap()[i/8]>>(i%8)&1 == 1 {
				out = append(out, r.GetStart()+i)
			}
		}
	}
	if a := s.GetSortedArray(); a != nil {
		out = array(a)
	}
	if a := s.GetArray(); a != nil {
		out = array(a)
	}
	return out
}

// checkRewrites follows the versions from one to another and holds every
// rewrite between them against what it replaced. It returns how many there were.
func checkRewrites(tb testing.TB, s objects.Store, n table.Naming, from, to uint64) (rewrites int) {
	tb.Helper()
	before := openVersion(tb, s, n, from)
	for v := from + 1; v <= to; v++ {
		after := openVersion(tb, s, n, v)
		txn, err := after.Transaction(context.Background())
		if err != nil || txn == nil {
			tb.Fatalf("version %d: transaction %v, error %v", v, txn, err)
		}
		kept := make(map[uint64]*pb.DataFragment)
		for _, f := range before.Fragments() {
			kept[f.GetId()] = f
		}
		for _, g := range txn.GetRewrite().GetGroups() {
			rewrites++
			checkGroup(tb, before, after, g)
			for _, f := range g.GetOldFragments() {
				delete(kept, f.GetId())
			}
			for _, f := range g.GetNewFragments() {
				kept[f.GetId()] = f
			}
		}
		if txn.GetRewrite() != nil || txn.GetReserveFragments() != nil {
			checkManifest(tb, before, after, kept)
		}
		before = after
	}
	return rewrites
}

func openVersion(tb testing.TB, s objects.Store, n table.Naming, v uint64) *table.Table {
	tb.Helper()
	t, err := table.OpenVersion(context.Background(), s, n, v)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// checkGroup: the new fragments hold what the old ones did, one behind the
// other, in files of the table's own dialect.
func checkGroup(tb testing.TB, before, after *table.Table, g *pb.Transaction_Rewrite_Group) {
	tb.Helper()
	what := fmt.Sprintf("version %d", after.Version())
	for at := range shapeOf(before).fields {
		checkField(tb, what, before, after, g.GetOldFragments(), g.GetNewFragments(), at)
	}
	checkLineage(tb, what, before, g.GetOldFragments(), g.GetNewFragments())
	for _, f := range g.GetNewFragments() {
		checkNewFile(tb, fmt.Sprintf("%s, fragment %d", what, f.GetId()), after, f)
	}
}

// checkLineage: row ids and versions are those of the rows that are kept.
func checkLineage(tb testing.TB, what string, before *table.Table, old, made []*pb.DataFragment) {
	tb.Helper()
	if !before.StableRowIDs() {
		return
	}
	var want, got lineage
	for _, x := range old {
		l, err := lineageOf(x)
		if err != nil {
			tb.Fatal(err)
		}
		deleted, err := table.ReadDeletions(context.Background(), before.Store(), x)
		if err != nil {
			tb.Fatal(err)
		}
		for i := range l.ids {
			if !deleted.Contains(uint32(i)) {
				want.ids, want.created, want.updated = append(want.ids, l.ids[i]), append(want.created, l.created[i]), append(want.updated, l.updated[i])
			}
		}
	}
	for _, f := range made {
		l, err := lineageOf(f)
		if err != nil {
			tb.Fatal(err)
		}
		got.ids, got.created, got.updated = append(got.ids, l.ids...), append(got.created, l.created...), append(got.updated, l.updated...)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		tb.Errorf("%s: row ids and versions %v, want %v", what, got, want)
	}
}

// checkNewFile holds a file that this build wrote against the format.
func checkNewFile(tb testing.TB, what string, t *table.Table, f *pb.DataFragment) {
	tb.Helper()
	if len(f.GetFiles()) != 1 || f.GetDeletionFile() != nil {
		tb.Fatalf("%s: %v", what, f)
	}
	d := f.GetFiles()[0]
	stem := strings.TrimSuffix(d.GetPath(), ".lance")
	if len(stem) != 50 || strings.Trim(stem[:24], "01") != "" || strings.Trim(stem[24:], "0123456789abcdef") != "" {
		tb.Errorf("%s: file name %s", what, d.GetPath())
	}
	if v := table.DataFileVersion(d); v != t.FileVersion() || d.BaseId != nil || d.GetFileSizeBytes() == 0 {
		tb.Errorf("%s: entry %v", what, d)
	}
	file, err := datafile.Open(context.Background(), t.Store(), "data/"+d.GetPath())
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	want := [2]uint32{t.FileVersion().Major, t.FileVersion().Minor}
	if t.FileVersion() == table.V2_0 {
		want = [2]uint32{0, 3}
	}
	if got := [2]uint32{file.Major, file.Minor}; got != want || len(file.GlobalBuffers) != 1 || len(file.Columns) != len(d.GetFields()) {
		tb.Errorf("%s: footer %v, %d global buffers, %d columns for %d fields", what, got, len(file.GlobalBuffers), len(file.Columns), len(d.GetFields()))
	}
	order := make(map[int32]int)
	for i, field := range t.Manifest().GetFields() {
		order[field.GetId()] = i
	}
	for i, id := range d.GetFields() {
		if at, live := order[id]; !live || i > 0 && at <= order[d.GetFields()[i-1]] || d.GetColumnIndices()[i] != int32(i) {
			tb.Errorf("%s: fields %v in columns %v", what, d.GetFields(), d.GetColumnIndices())
		}
	}
	for _, field := range file.Descriptor.GetSchema().GetFields() {
		i, ok := order[field.GetId()]
		if !ok || !proto.Equal(field, t.Manifest().GetFields()[i]) {
			tb.Errorf("%s: the file's schema has %v", what, field)
		}
	}
	for i, c := range file.Columns {
		var rows uint64
		for _, p := range c.GetPages() {
			if p.GetPriority() > f.GetPhysicalRows() || p.GetPriority() < rows {
				tb.Errorf("%s, column %d: a page at row %d behind one at %d", what, i, p.GetPriority(), rows)
			}
			rows = p.GetPriority()
			for k, off := range p.GetBufferOffsets() {
				if p.GetBufferSizes()[k] > 0 && off%datafile.Alignment != 0 {
					tb.Errorf("%s, column %d: a buffer at %d", what, i, off)
				}
			}
		}
	}
}

// checkManifest: a version of ours says what the one before it said, but for
// the fragments that were replaced.
func checkManifest(tb testing.TB, before, after *table.Table, fragments map[uint64]*pb.DataFragment) {
	tb.Helper()
	if len(after.Fragments()) != len(fragments) {
		tb.Errorf("version %d: %d fragments, want %d", after.Version(), len(after.Fragments()), len(fragments))
	}
	last := -1
	for _, f := range after.Fragments() {
		if !proto.Equal(f, fragments[f.GetId()]) {
			tb.Errorf("version %d, fragment %d: %v, want %v", after.Version(), f.GetId(), f, fragments[f.GetId()])
		}
		if int(f.GetId()) <= last && len(added(before, after)) > 0 {
			tb.Errorf("version %d: fragment %d behind %d", after.Version(), f.GetId(), last)
		}
		last = int(f.GetId())
	}
	a, b := proto.CloneOf(before.Manifest()), proto.CloneOf(after.Manifest())
	for _, m := range []*pb.Manifest{a, b} {
		m.Fragments, m.Version, m.Timestamp, m.WriterVersion, m.TransactionFile = nil, 0, nil, nil, ""
		m.IndexSection, m.TransactionSection, m.TransactionSectionV13, m.MaxFragmentId = nil, nil, nil, nil
		m.Tag, m.VersionAuxData = "", 0
	}
	if !slices.ContainsFunc(after.Fragments(), func(f *pb.DataFragment) bool { return f.GetDeletionFile() != nil }) {
		a.ReaderFeatureFlags &^= table.FlagDeletionFiles
		a.WriterFeatureFlags &^= table.FlagDeletionFiles
	}
	if !proto.Equal(a, b) {
		tb.Errorf("version %d: %v, before it was %v", after.Version(), b, a)
	}
	if len(before.Indices()) != len(after.Indices()) {
		tb.Errorf("version %d: %d indices, before it were %d", after.Version(), len(after.Indices()), len(before.Indices()))
	}
	x, _ := before.MaxFragmentID()
	if y, _ := after.MaxFragmentID(); y < x || before.Manifest().GetNextRowId() != after.Manifest().GetNextRowId() {
		tb.Errorf("version %d: highest fragment id %d, was %d", after.Version(), y, x)
	}
}

// added are the fragments of a version that the one before it has not.
func added(before, after *table.Table) (ids []uint64) {
	had := make(map[uint64]bool)
	for _, f := range before.Fragments() {
		had[f.GetId()] = true
	}
	for _, f := range after.Fragments() {
		if !had[f.GetId()] {
			ids = append(ids, f.GetId())
		}
	}
	return ids
}

// checkVersions opens every version of a table, and everything that each names.
func checkVersions(tb testing.TB, s objects.Store) (named map[string]bool) {
	tb.Helper()
	named, err := versionsAreWhole(s)
	if err != nil {
		tb.Error(err)
	}
	return named
}

// versionsAreWhole tells what is wrong with any version of a table, and which
// files all of them name. Names that end in a slash are directories.
func versionsAreWhole(s objects.Store) (named map[string]bool, err error) {
	ctx := context.Background()
	named = make(map[string]bool)
	l, err := table.ListVersions(ctx, s)
	if err != nil {
		return nil, err
	}
	whole := func(name string) error {
		named[name] = true
		r, err := s.Open(ctx, name)
		if err != nil {
			return err
		}
		return r.Close()
	}
	for _, ref := range append(slices.Clone(l.Versions), l.Detached...) {
		named[ref.Name] = true
		t, err := table.OpenRef(ctx, s, l, ref)
		if err != nil {
			return nil, err
		}
		broken := func(err error) error {
			return fmt.Errorf("version %d: %w", t.Version(), err)
		}
		if f := t.Manifest().GetTransactionFile(); f != "" {
			if err := whole("_transactions/" + f); err != nil {
				return nil, broken(err)
			}
		}
		for _, f := range t.Fragments() {
			fresh := false
			for _, d := range f.GetFiles() {
				if d.BaseId == nil {
					fresh = fresh || !named["data/"+d.GetPath()]
					named["data/"+d.GetPath()] = true
				}
			}
			if d := f.GetDeletionFile(); d != nil && d.BaseId == nil {
				if err := whole(table.DeletionName(f.GetId(), d)); err != nil {
					return nil, broken(err)
				}
			}
			// What was read for another version need not be read again.
			if fresh && !slices.ContainsFunc(f.GetFiles(), func(d *pb.DataFile) bool { return d.BaseId != nil }) {
				if _, err := readContent(t, f); err != nil {
					return nil, broken(fmt.Errorf("fragment %d: %w", f.GetId(), err))
				}
			}
		}
		for _, i := range t.Indices() {
			id, err := uuid.FromBytes(i.GetUuid().GetUuid())
			if err != nil {
				return nil, broken(err)
			}
			named["_indices/"+id.String()+"/"] = true
		}
	}
	if len(l.Versions) == 0 {
		return nil, errors.New("no version")
	}
	return named, nil
}

// orphans are files of a table that no version names and that are not above them.
func orphans(tb testing.TB, all []string, named map[string]bool) (out []string) {
	tb.Helper()
	for _, f := range all {
		dir := path.Dir(f)
		if named[f] || named[dir+"/"] || named[dir+".lance"] && strings.HasSuffix(f, ".blob") || strings.HasPrefix(f, "_refs/") || strings.HasPrefix(f, "tree/") || f == table.HintName {
			continue
		}
		out = append(out, f)
	}
	return out
}
