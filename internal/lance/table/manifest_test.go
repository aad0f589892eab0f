package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func TestDecodeFixtures(t *testing.T) {
	namings := make(map[Naming]int)
	versions := make(map[FileVersion]int)
	for _, m := range manifests(t) {
		got, err := Decode(nil, m.ref, m.n, m.b)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		namings[m.n]++
		versions[got.FileVersion()]++
		if got.Time().Year() < 2024 {
			t.Errorf("%s: made at %s", m.name, got.Time())
		}
		if name := m.n.ManifestName(m.ref.Version); name != m.ref.Name {
			t.Errorf("%s: its version would be named %s", m.name, name)
		}
	}
	if len(namings) != 2 || len(versions) != 3 {
		t.Errorf("testdata has namings %v and file versions %v: not all that there are", namings, versions)
	}
}

// Every manifest that was cut off says so, and says which one it is.
func TestDecodePrefix(t *testing.T) {
	seen := make(map[int]bool)
	for _, m := range manifests(t) {
		// One for each size; those of one table differ little.
		if seen[len(m.b)/100] && testing.Short() || seen[len(m.b)] {
			continue
		}
		seen[len(m.b)], seen[len(m.b)/100] = true, true
		for n := range m.b {
			_, err := Decode(nil, m.ref, m.n, m.b[:n])
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrRefused) {
				t.Fatalf("%s, first %d of %d bytes: error %v", m.name, n, len(m.b), err)
			}
			if !strings.Contains(err.Error(), m.ref.Name) {
				t.Fatalf("%s, first %d bytes: %q does not name the object", m.name, n, err)
			}
		}
	}
}

func TestDecodeBroken(t *testing.T) {
	m := manifests(t)[0]
	end := len(m.b)
	tests := []struct {
		name  string
		alter func(b []byte)
		want  error
		says  string
	}{
		{"magic", func(b []byte) { b[end-1] = 'X' }, ErrCorrupt, "LANX"},
		{"major version", func(b []byte) { b[end-8] = 1 }, ErrRefused, "1.2"},
		{"minor version", func(b []byte) { b[end-6] = 3 }, ErrRefused, "0.3"},
		{"position beyond the end", func(b []byte) { binary.LittleEndian.PutUint64(b[end-16:], 1<<40) }, ErrCorrupt, "position"},
		{"largest position", func(b []byte) { binary.LittleEndian.PutUint64(b[end-16:], 1<<64-1) }, ErrCorrupt, "position"},
		{"position in the footer", func(b []byte) { binary.LittleEndian.PutUint64(b[end-16:], uint64(end-10)) }, ErrCorrupt, "position"},
		{"length", func(b []byte) {
			binary.LittleEndian.PutUint32(b[binary.LittleEndian.Uint64(b[end-16:]):], 1<<32-1)
		}, ErrCorrupt, "does not fit"},
		{"another section", func(b []byte) { binary.LittleEndian.PutUint64(b[end-16:], 0) }, nil, ""},
		{"a known field of another kind", func(b []byte) {
			b[binary.LittleEndian.Uint64(b[end-16:])+4] ^= 1 // the type of the message's first field: a field of the schema
		}, ErrCorrupt, "manifest message"},
		{"no bytes", nil, ErrCorrupt, "0 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b []byte
			if tt.alter != nil {
				b = bytes.Clone(m.b)
				tt.alter(b)
			}
			_, err := Decode(nil, m.ref, m.n, b)
			if tt.want == nil && (errors.Is(err, ErrCorrupt) || errors.Is(err, ErrRefused)) {
				return // whatever the other section looks like as a manifest
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			says(t, err, m.ref.Name, tt.says)
		})
	}
}

// A manifest whose bytes are in the format, but whose content contradicts itself.
func TestDecodeContradictions(t *testing.T) {
	data := func(fields, columns int) *pb.DataFile {
		return &pb.DataFile{Path: "a.lance", Fields: make([]int32, fields), ColumnIndices: make([]int32, columns), FileMajorVersion: 2}
	}
	tests := []struct {
		name  string
		alter func(m *pb.Manifest)
		want  error
		says  string
	}{
		{"nothing", func(*pb.Manifest) {}, nil, ""},
		{"another version", func(m *pb.Manifest) { m.Version = 8 }, ErrCorrupt, "version 8"},
		{"a fragment twice", func(m *pb.Manifest) {
			m.Fragments = []*pb.DataFragment{{Id: 3}, {Id: 3}}
		}, ErrCorrupt, "fragment 3"},
		{"no row ids", func(m *pb.Manifest) {
			m.ReaderFeatureFlags = FlagStableRowIDs
			m.Fragments = []*pb.DataFragment{{Id: 4}}
		}, ErrCorrupt, "fragment 4"},
		{"more deleted than there are", func(m *pb.Manifest) {
			m.Fragments = []*pb.DataFragment{{Id: 5, PhysicalRows: 3, DeletionFile: &pb.DeletionFile{NumDeletedRows: 4}}}
		}, ErrCorrupt, "fragment 5"},
		{"fields without columns", func(m *pb.Manifest) {
			m.Fragments = []*pb.DataFragment{{Id: 6, Files: []*pb.DataFile{data(2, 1)}}}
		}, ErrCorrupt, "fragment 6"},
		{"a path that leads outside", func(m *pb.Manifest) {
			d := data(1, 1)
			d.Path = "../../x"
			m.Fragments = []*pb.DataFragment{{Id: 7, Files: []*pb.DataFile{d}}}
		}, ErrCorrupt, "fragment 7"},
		{"file version 0.1", func(m *pb.Manifest) { m.DataFormat.Version = "0.1" }, ErrRefused, "0.1"},
		{"file version 2.3", func(m *pb.Manifest) { m.DataFormat.Version = "2.3" }, ErrRefused, "2.3"},
		{"a version that is an alias", func(m *pb.Manifest) { m.DataFormat.Version = "stable" }, ErrRefused, "stable"},
		{"a version with a tail", func(m *pb.Manifest) { m.DataFormat.Version = "2.1-beta" }, ErrRefused, "2.1-beta"},
		{"a foreign format", func(m *pb.Manifest) { m.DataFormat.FileFormat = "parquet" }, ErrRefused, "parquet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &pb.Manifest{Version: 7, DataFormat: &pb.Manifest_DataStorageFormat{FileFormat: "lance", Version: "2.1"}}
			tt.alter(m)
			f := &manifestFile{manifest: m}
			b, err := f.encode()
			if err != nil {
				t.Fatal(err)
			}
			ref := VersionRef{Version: 7, Name: NamingV2.ManifestName(7)}
			_, err = Decode(nil, ref, NamingV2, b)
			if !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if tt.want != nil {
				says(t, err, ref.Name, tt.says)
			}
		})
	}
}

// The version of the data files, where the manifest itself does not say.
func TestFileVersionWithoutFormat(t *testing.T) {
	file := func(major, minor uint32) *pb.Manifest {
		d := &pb.DataFile{FileMajorVersion: major, FileMinorVersion: minor}
		return &pb.Manifest{Fragments: []*pb.DataFragment{{Files: []*pb.DataFile{d}}}}
	}
	tests := []struct {
		name string
		m    *pb.Manifest
		want FileVersion
	}{
		{"0.3 is 2.0", file(0, 3), V2_0},
		{"2.0", file(2, 0), V2_0},
		{"2.2", file(2, 2), V2_2},
		{"0.2", file(0, 2), FileVersion{}},
		{"2.3", file(2, 3), FileVersion{}},
		{"the old flag", &pb.Manifest{WriterFeatureFlags: FlagV2Files}, V2_0},
		{"nothing", &pb.Manifest{}, FileVersion{}},
	}
	for _, tt := range tests {
		got, err := fileVersionOf("m", tt.m)
		if refused := errors.Is(err, ErrRefused); refused != (tt.want == FileVersion{}) || !refused && got != tt.want {
			t.Errorf("%s: version %s, error %v", tt.name, got, err)
		}
	}
}

// unknown is an encoded field that no message here has.
func unknown(number protowire.Number, content string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// What newer releases keep in a manifest survives a commit on top of it, at
// every depth; what is a position in that very file does not.
func TestUnknownFieldsSurvive(t *testing.T) {
	for _, v := range []protowire.Number{24, 900} {
		s := dirStore(t, t.TempDir())
		m := tinyManifest(2)
		m.ProtoReflect().SetUnknown(unknown(v, "manifest"))
		m.Fields[0].ProtoReflect().SetUnknown(unknown(901, "field"))
		m.Fragments[0].ProtoReflect().SetUnknown(unknown(902, "fragment"))
		m.Fragments[0].Files[0].ProtoReflect().SetUnknown(unknown(903, "file"))
		m.Fragments[1].DeletionFile = &pb.DeletionFile{NumDeletedRows: 1}
		m.Fragments[1].DeletionFile.ProtoReflect().SetUnknown(unknown(904, "deletion"))
		m.BasePaths = []*pb.BasePath{{Path: "/elsewhere"}}
		m.BasePaths[0].ProtoReflect().SetUnknown(unknown(905, "base"))
		m.DataFormat.ProtoReflect().SetUnknown(unknown(906, "format"))
		want := []string{"manifest", "field", "fragment", "file", "deletion", "base", "format"}
		publishManifest(t, s, NamingV2, &manifestFile{manifest: m})

		base, err := Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := committer(nil).Commit(t.Context(), base, reserve(1)); err != nil {
			t.Fatal(err)
		}
		after, err := Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if after.Version() != 2 {
			t.Fatalf("version %d", after.Version())
		}
		raw, err := proto.Marshal(after.Manifest())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !bytes.Contains(raw, []byte(w)) {
				t.Errorf("the unknown field of the %s is gone", w)
			}
		}
		if !proto.Equal(base.Manifest().Fragments[0], after.Manifest().Fragments[0]) {
			t.Error("the fragment is not what it was")
		}
	}
}

// A fragment tree would hold fragments that nothing here sees.
func TestFragmentTreeIsRefused(t *testing.T) {
	m := tinyManifest(1)
	m.ProtoReflect().SetUnknown(append(unknown(900, "x"), unknown(22, "tree")...))
	b, err := (&manifestFile{manifest: m}).encode()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Decode(nil, VersionRef{Version: 1, Name: "m"}, NamingV2, b)
	if !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
	says(t, err, "22")
}

// The positions in a manifest are made anew, whatever was read.
func TestEncodePositions(t *testing.T) {
	for _, m := range manifests(t) {
		old, err := decodeManifest(m.name, m.b)
		if err != nil {
			t.Fatal(err)
		}
		f := &manifestFile{manifest: proto.CloneOf(old.manifest), indexSection: old.indexSection, transaction: old.transaction}
		f.manifest.IndexSection = proto.Uint64(1 << 50)
		f.manifest.TransactionSection = proto.Uint64(1 << 51)
		f.manifest.TransactionSectionV13 = proto.Uint64(1 << 52)
		b, err := f.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeManifest(m.name, b)
		if err != nil {
			t.Fatalf("%s: what was encoded: %v", m.name, err)
		}
		if !bytes.Equal(again.indexSection, old.indexSection) || (again.indexSection == nil) != (old.indexSection == nil) {
			t.Errorf("%s: index section of %d bytes, was %d", m.name, len(again.indexSection), len(old.indexSection))
		}
		if !bytes.Equal(again.transaction, old.transaction) {
			t.Errorf("%s: transaction of %d bytes, was %d", m.name, len(again.transaction), len(old.transaction))
		}
		if p, q := again.manifest.TransactionSection, again.manifest.TransactionSectionV13; (p == nil) != (old.transaction == nil) ||
			(p == nil) != (q == nil) || p != nil && *p != *q {
			t.Errorf("%s: transaction positions %v and %v", m.name, p, q)
		}
		// Apart from the positions, nothing may differ.
		for _, x := range []*pb.Manifest{again.manifest, old.manifest} {
			x.IndexSection, x.TransactionSection, x.TransactionSectionV13 = nil, nil, nil
		}
		if !proto.Equal(again.manifest, old.manifest) {
			t.Errorf("%s: the manifest has changed", m.name)
		}
		if twice, err := f.encode(); err != nil || !bytes.Equal(b, twice) {
			t.Errorf("%s: encoded twice, differs (%v)", m.name, err)
		}
	}
}

// Index entries are carried even if nothing here can decode them, and an inline
// transaction that can't be read does not stop a reader.
func TestSectionsThatCantBeRead(t *testing.T) {
	garbage := []byte{0xff, 0xff, 0xff}
	m := tinyManifest(1)
	m.TransactionFile = "0-f00.txn"
	f := &manifestFile{manifest: m, transaction: garbage}
	b, err := f.encode()
	if err != nil {
		t.Fatal(err)
	}
	s := dirStore(t, t.TempDir())
	txn, err := proto.Marshal(&pb.Transaction{Uuid: "f00", Operation: &pb.Transaction_Restore_{Restore: &pb.Transaction_Restore{Version: 9}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "_transactions/0-f00.txn", string(txn))
	for name, alter := range map[string]func(*pb.Manifest){
		"garbage":              func(*pb.Manifest) {},
		"position far outside": func(m *pb.Manifest) { m.TransactionSection = proto.Uint64(1 << 60) },
		"position of 13":       func(m *pb.Manifest) { m.TransactionSection = nil; m.TransactionSectionV13 = proto.Uint64(1 << 60) },
		"none":                 func(m *pb.Manifest) { m.TransactionSection, m.TransactionSectionV13 = nil, nil },
	} {
		x, err := decodeManifest("m", b)
		if err != nil {
			t.Fatal(err)
		}
		alter(x.manifest)
		tab, err := Decode(s, VersionRef{Version: 1, Name: "m"}, NamingV2, frame(t, x.manifest, garbage))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := tab.Transaction(t.Context())
		if err != nil || got.GetRestore().GetVersion() != 9 || tab.transactionUUID() != "f00" {
			t.Errorf("%s: transaction %v (uuid %q), error %v", name, got, tab.transactionUUID(), err)
		}
	}
	m.IndexSection = proto.Uint64(1 << 40)
	_, err = Decode(s, VersionRef{Version: 1, Name: "m"}, NamingV2, frame(t, m))
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("index section outside the file: error %v", err)
	}
}

// frame puts a manifest object together with the positions that it has.
func frame(t *testing.T, m *pb.Manifest, sections ...[]byte) []byte {
	t.Helper()
	var b []byte
	for _, s := range sections {
		b = appendSection(b, s)
	}
	pos := len(b)
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b = appendSection(b, raw)
	b = binary.LittleEndian.AppendUint64(b, uint64(pos))
	return append(b, 0, 0, 2, 0, 'L', 'A', 'N', 'C')
}

// The index section may lie at position 0, which is not the same as none.
func TestIndexSectionCarriedByteForByte(t *testing.T) {
	for _, base := range pick(t, 3, "an index", func(t *Table) bool { return len(t.Indices()) > 0 }) {
		if base.Manifest().GetIndexSection() != 0 {
			t.Logf("%s: index section at %d", base.Ref().Name, base.Manifest().GetIndexSection())
		}
		next, err := apply(base, reserve(3), time.Unix(1e9, 0))
		if err != nil {
			t.Fatal(err)
		}
		b, err := next.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeManifest("m", b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.indexSection, base.file.indexSection) {
			t.Errorf("%s: the index section has changed", base.Ref().Name)
		}
	}
	// Also an entry that nothing here can decode as one.
	m := tinyManifest(1)
	section := unknown(77, "an index of tomorrow")
	base, err := Decode(nil, VersionRef{Version: 1, Name: "m"}, NamingV2, mustEncode(t, &manifestFile{manifest: m, indexSection: section}))
	if err != nil {
		t.Fatal(err)
	}
	next, err := apply(base, reserve(1), time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeManifest("m", mustEncode(t, next)); err != nil || !bytes.Equal(got.indexSection, section) {
		t.Errorf("index section %q, error %v", got.indexSection, err)
	}
}

func mustEncode(t *testing.T, f *manifestFile) []byte {
	t.Helper()
	b, err := f.encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A transaction that would make the manifest too large is left to its file.
func TestHugeTransactionIsNotInlined(t *testing.T) {
	f := &manifestFile{manifest: tinyManifest(1), transaction: make([]byte, maxInlineTransaction+1)}
	got, err := decodeManifest("m", mustEncode(t, f))
	if err != nil || got.transaction != nil || got.manifest.TransactionSection != nil {
		t.Errorf("transaction of %d bytes, error %v", len(got.transaction), err)
	}
}

func TestTableAccessors(t *testing.T) {
	m := tinyManifest(3)
	m.Fragments[1].DeletionFile = &pb.DeletionFile{NumDeletedRows: 4}
	m.Timestamp = nil
	tab, err := Decode(nil, VersionRef{Version: 1, Name: "m"}, NamingV1, mustEncode(t, &manifestFile{manifest: m}))
	if err != nil {
		t.Fatal(err)
	}
	if tab.Rows() != 26 || !tab.Time().IsZero() || tab.Naming() != NamingV1 || tab.StableRowIDs() {
		t.Errorf("rows %d, time %s, naming %s, stable %t", tab.Rows(), tab.Time(), tab.Naming(), tab.StableRowIDs())
	}
	if id, ok := tab.MaxFragmentID(); !ok || id != 2 {
		t.Errorf("highest id %d, %t", id, ok)
	}
	empty, err := Decode(nil, VersionRef{Version: 1, Name: "m"}, NamingV1, mustEncode(t, &manifestFile{manifest: tinyManifest(0)}))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := empty.MaxFragmentID(); ok {
		t.Error("a table that never had a fragment has a highest id")
	}
	if got := sortedFragments([]*pb.DataFragment{{Id: 9}, {Id: 2}, {Id: 5}}); !slices.IsSortedFunc(got, func(a, b *pb.DataFragment) int { return int(a.Id) - int(b.Id) }) {
		t.Error("fragments are not sorted")
	}
}
