package cleanup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
)

// world is a table, or a branch of one, whose data files have no content.
type world struct {
	tb  testing.TB
	s   *dirstore.Store // of the table's root
	dir string          // of the branch; "" for the main one
	n   table.Naming
	// at is when the next version is made; each makes it one hour later.
	at      time.Time
	m       *pb.Manifest
	indices []*pb.IndexMetadata
	// loose counts detached versions.
	loose uint64
}

// newWorld makes a table of no version yet.
func newWorld(tb testing.TB, n table.Naming) *world {
	tb.Helper()
	return &world{tb: tb, s: dirStore(tb, filepath.Join(tb.TempDir(), "table")), n: n, at: start.Add(-1000 * time.Hour), m: &pb.Manifest{
		Fields:     []*pb.Field{{Name: "id", ParentId: -1}},
		DataFormat: &pb.Manifest_DataStorageFormat{FileFormat: "lance", Version: "2.1"},
	}}
}

// in is a name below the branch's directory.
func (w *world) in(name string) string { return w.dir + name }

func (w *world) put(name string) {
	w.tb.Helper()
	if err := w.s.Publish(context.Background(), name, []byte("content of "+name)); err != nil {
		w.tb.Fatal(err)
	}
}

// old makes a file look as if it were that old.
func (w *world) old(name string, age time.Duration) {
	w.tb.Helper()
	at := start.Add(-age)
	if err := os.Chtimes(filepath.Join(w.s.String(), name), at, at); err != nil {
		w.tb.Fatal(err)
	}
}

// stray is a file that no version names.
func (w *world) stray(name string, age time.Duration) {
	w.tb.Helper()
	w.put(name)
	w.old(name, age)
}

// encode puts a manifest object together.
func encode(tb testing.TB, m *pb.Manifest, indices []*pb.IndexMetadata) []byte {
	tb.Helper()
	var b []byte
	section := func(x proto.Message) uint64 {
		raw, err := proto.Marshal(x)
		if err != nil {
			tb.Fatal(err)
		}
		pos := uint64(len(b))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(raw)))
		b = append(b, raw...)
		return pos
	}
	m = proto.CloneOf(m)
	m.IndexSection, m.TransactionSection, m.TransactionSectionV13 = nil, nil, nil
	if len(indices) > 0 {
		m.IndexSection = proto.Uint64(section(&pb.IndexSection{Indices: indices}))
	}
	pos := section(m)
	b = binary.LittleEndian.AppendUint64(b, pos)
	return append(b, 0, 0, 2, 0, 'L', 'A', 'N', 'C')
}

// commit makes the next version.
func (w *world) commit() uint64 {
	w.tb.Helper()
	w.m.Version++
	w.m.Timestamp = timestamppb.New(w.at)
	w.at = w.at.Add(time.Hour)
	w.m.TransactionFile = fmt.Sprintf("%d-%s.txn", w.m.Version-1, uuid.NewString())
	w.put(w.in("_transactions/" + w.m.TransactionFile))
	w.publish(w.in(w.n.ManifestName(w.m.Version)), w.m)
	return w.m.Version
}

// config makes the next version, with settings of the table's own.
func (w *world) config(pairs ...string) uint64 {
	w.m.Config = make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		w.m.Config[pairs[i]] = pairs[i+1]
	}
	return w.commit()
}

func (w *world) publish(name string, m *pb.Manifest) {
	w.tb.Helper()
	if err := w.s.Publish(context.Background(), name, encode(w.tb, m, w.indices)); err != nil {
		w.tb.Fatal(err)
	}
	w.old(name, start.Sub(m.GetTimestamp().AsTime()))
}

func (w *world) add() *pb.DataFragment {
	d := &pb.DataFile{Path: uuid.NewString() + ".lance", Fields: []int32{0}, ColumnIndices: []int32{0}, FileMajorVersion: 2, FileMinorVersion: 1}
	w.put(w.in("data/" + d.Path))
	id := uint64(0)
	if w.m.MaxFragmentId != nil {
		id = uint64(*w.m.MaxFragmentId) + 1
	}
	w.m.MaxFragmentId = proto.Uint32(uint32(id))
	f := &pb.DataFragment{Id: id, PhysicalRows: 10, Files: []*pb.DataFile{d}}
	w.m.Fragments = append(w.m.Fragments, f)
	return f
}

// append makes a version with one more fragment.
func (w *world) append() uint64 {
	w.add()
	return w.commit()
}

// merge makes a version in which one fragment is there instead of all.
func (w *world) merge() uint64 {
	w.m.Fragments = nil
	w.add()
	return w.commit()
}

// delete makes a version in which a row of the first fragment is deleted.
func (w *world) delete() uint64 {
	f := proto.CloneOf(w.m.Fragments[0])
	f.DeletionFile = &pb.DeletionFile{ReadVersion: w.m.Version, Id: uint64(w.m.Version), NumDeletedRows: f.GetDeletionFile().GetNumDeletedRows() + 1}
	w.put(w.in(table.DeletionName(f.Id, f.DeletionFile)))
	w.m.Fragments[0] = f
	w.m.ReaderFeatureFlags |= table.FlagDeletionFiles
	w.m.WriterFeatureFlags |= table.FlagDeletionFiles
	return w.commit()
}

// index makes a version with another index instead of the one that was there.
func (w *world) index() uint64 {
	id := uuid.New()
	w.put(w.in("_indices/" + id.String() + "/index.idx"))
	w.put(w.in("_indices/" + id.String() + "/parts/0/auxiliary.idx"))
	w.indices = []*pb.IndexMetadata{{Name: "i", Uuid: &pb.UUID{Uuid: id[:]}}}
	return w.commit()
}

// detached makes a version that never is the newest, with a file of its own.
func (w *world) detached() (name string) {
	w.tb.Helper()
	m, indices := proto.CloneOf(w.m), w.indices
	w.add()
	w.loose++
	w.m.Version += 1<<63 + w.loose<<40
	w.m.Timestamp = timestamppb.New(w.at)
	name = w.in(w.n.ManifestName(w.m.Version))
	w.publish(name, w.m)
	w.m, w.indices = m, indices
	return name
}

func (w *world) tag(name string, version uint64) {
	w.tb.Helper()
	if err := makeTag(w.s, name, w.branchName(), version); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) branchName() string {
	return strings.TrimSuffix(strings.TrimPrefix(w.dir, "tree/"), "/")
}

func makeTag(s objects.Store, name, branch string, version uint64) error {
	content := fmt.Sprintf(`{"branch":null,"version":%d,"manifestSize":1}`, version)
	if branch != "" {
		content = fmt.Sprintf(`{"branch":%q,"version":%d,"manifestSize":1}`, branch, version)
	}
	return s.Publish(context.Background(), "_refs/tags/"+name+".json", []byte(content))
}

// tagIf makes a tag as Lance does: when the version's manifest is there.
func tagIf(s objects.Store, n table.Naming, name string, version uint64) (made bool, err error) {
	r, err := s.Open(context.Background(), n.ManifestName(version))
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.Close()
	return true, makeTag(s, name, "", version)
}

// branch cuts a branch from the newest version. Its first version has the
// parent's number and names the parent's files.
func (w *world) branch(name string) *world {
	w.tb.Helper()
	b := &world{tb: w.tb, s: w.s, dir: "tree/" + name + "/", n: w.n, at: w.at, m: proto.CloneOf(w.m)}
	base := uint32(len(w.m.BasePaths))
	path := "/somewhere/table"
	if w.dir != "" {
		path += "/" + strings.TrimSuffix(w.dir, "/")
	}
	b.m.BasePaths = append(b.m.BasePaths, &pb.BasePath{Id: base, IsDatasetRoot: true, Path: path})
	b.m.Branch = proto.String(name)
	b.m.ReaderFeatureFlags |= table.FlagBasePaths
	b.m.WriterFeatureFlags |= table.FlagBasePaths
	for _, f := range b.m.Fragments {
		for _, d := range f.Files {
			if d.BaseId == nil {
				d.BaseId = proto.Uint32(base)
			}
		}
		if d := f.DeletionFile; d != nil && d.BaseId == nil {
			d.BaseId = proto.Uint32(base)
		}
	}
	for _, i := range w.indices {
		i = proto.CloneOf(i)
		if i.BaseId == nil {
			i.BaseId = proto.Uint32(base)
		}
		b.indices = append(b.indices, i)
	}
	b.m.Version--
	b.commit()
	parent := "null"
	if w.dir != "" {
		parent = fmt.Sprintf("%q", w.branchName())
	}
	ref := fmt.Sprintf(`{"parentBranch":%s,"parentVersion":%d,"createAt":1}`, parent, w.m.Version)
	if err := w.s.Publish(context.Background(), "_refs/branches/"+url.PathEscape(name)+".json", []byte(ref)); err != nil {
		w.tb.Fatal(err)
	}
	return b
}

// names are the files that a manifest names, below the table's root. Names that
// end in a slash stand for all below them.
func namesIn(t *table.Table, dir string) (out []string) {
	root := func(base *uint32) string {
		if base == nil {
			return dir
		}
		for _, b := range t.Manifest().GetBasePaths() {
			if b.GetId() == *base {
				if _, branch, ok := strings.Cut(b.GetPath(), "/tree/"); ok {
					return "tree/" + branch + "/"
				}
				return ""
			}
		}
		return "?"
	}
	if f := t.Manifest().GetTransactionFile(); f != "" {
		out = append(out, dir+"_transactions/"+f)
	}
	for _, f := range t.Fragments() {
		for _, d := range f.GetFiles() {
			out = append(out, root(d.BaseId)+"data/"+d.GetPath())
		}
		if d := f.GetDeletionFile(); d != nil {
			out = append(out, root(d.BaseId)+table.DeletionName(f.GetId(), d))
		}
	}
	for _, i := range t.Indices() {
		id, _ := uuid.FromBytes(i.GetUuid().GetUuid())
		out = append(out, root(i.BaseId)+"_indices/"+id.String()+"/")
	}
	return out
}

// everyVersion opens every manifest of the table and its branches, and makes
// sure that everything that they name is there.
func everyVersion(tb testing.TB, s *dirstore.Store) (named map[string]bool) {
	tb.Helper()
	named, broken := lookAtAll(tb, s)
	for _, b := range broken {
		tb.Error(b)
	}
	return named
}

func lookAtAll(tb testing.TB, s *dirstore.Store) (named map[string]bool, broken []string) {
	tb.Helper()
	named = make(map[string]bool)
	dirs := []string{""}
	err := filepath.WalkDir(filepath.Join(s.String(), "tree"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == table.VersionsDir {
			rel, _ := filepath.Rel(s.String(), filepath.Dir(path))
			dirs = append(dirs, filepath.ToSlash(rel)+"/")
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	for _, dir := range dirs {
		var sub objects.Store = s
		if dir != "" {
			sub = objects.Sub(s, strings.TrimSuffix(dir, "/"))
		}
		l, err := table.ListVersions(context.Background(), sub)
		if err != nil {
			tb.Fatal(err)
		}
		for _, ref := range append(slices.Clone(l.Versions), l.Detached...) {
			t, err := table.OpenRef(context.Background(), sub, l, ref)
			if err != nil {
				tb.Fatal(err)
			}
			named[dir+ref.Name] = true
			for _, n := range namesIn(t, dir) {
				named[n] = true
				if _, err := os.Stat(filepath.Join(s.String(), n)); err != nil {
					broken = append(broken, fmt.Sprintf("version %d of %q misses %s", t.Version(), dir, n))
				}
			}
		}
	}
	return named, broken
}

// orphans are files that no version names and that are nothing above versions.
func orphans(all []string, named map[string]bool) (out []string) {
	for _, f := range all {
		there := named[f] || strings.HasPrefix(f, "_refs/") || strings.HasSuffix(f, "latest_version_hint.json")
		for dir := f; !there && strings.Contains(dir, "/"); {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			there = named[dir+"/"]
		}
		if !there {
			out = append(out, f)
		}
	}
	return out
}

// options clean all that the policy lets go, at the start of the test.
func options(p Policy) Options {
	return Options{
		Policy: p,
		Now:    func() time.Time { return start },
		Wait:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// everything goes that may go at all.
var everything = Policy{MinVersions: 1}

func clean(tb testing.TB, s objects.Store, p Policy) Result {
	tb.Helper()
	res, err := Run(context.Background(), s, options(p))
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// sample is a table with something of everything: versions of all kinds, tags,
// a branch of a branch, a detached version.
func sample(tb testing.TB, n table.Naming) *world {
	tb.Helper()
	w := newWorld(tb, n)
	w.append()             // 1
	w.append()             // 2, tagged
	w.index()              // 3
	w.delete()             // 4
	w.branch("b").append() // cut from 4
	w.append()             // 5
	w.index()              // 6
	w.merge()              // 7
	w.delete()             // 8
	w.append()             // 9
	w.tag("two", 2)
	w.detached()
	return w
}
