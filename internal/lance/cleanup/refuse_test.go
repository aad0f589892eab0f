package cleanup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/dirstore"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

// places are manifests of a table, each of which must be understood before
// anything is removed.
func places(w *world) map[string]string {
	detached := ""
	for _, f := range files(w.tb, w.s) {
		if strings.HasPrefix(f, "_versions/d") {
			detached = f
		}
	}
	branch := ""
	for _, f := range files(w.tb, w.s) {
		if strings.HasPrefix(f, "tree/b/_versions/") {
			branch = f
		}
	}
	return map[string]string{
		"the oldest": w.n.ManifestName(1), "a tagged one": w.n.ManifestName(2), "one that is due": w.n.ManifestName(5),
		"the newest": w.n.ManifestName(w.m.Version), "a detached one": detached, "a branch's": branch,
	}
}

// overwrite changes a manifest in place, as nobody should.
func overwrite(tb testing.TB, s *dirstore.Store, name string, alter func(b []byte) []byte) {
	tb.Helper()
	path := filepath.Join(s.String(), name)
	fi, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // it may have second names
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, alter(b), 0o666); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(path, fi.ModTime(), fi.ModTime()); err != nil {
		tb.Fatal(err)
	}
}

// refuses runs a cleanup, which must fail and change nothing.
func refuses(t *testing.T, s *dirstore.Store, want error, words ...string) {
	t.Helper()
	before := files(t, s)
	f := faultstore.New(s, nil)
	res, err := Run(t.Context(), f, options(everything))
	if !errors.Is(err, want) || res.Changed {
		t.Errorf("%+v, error %v, want %v", res, err, want)
		return
	}
	says(t, err.Error(), words...)
	if n := f.Count(faultstore.Delete, faultstore.Publish, faultstore.Replace, faultstore.Create); n != 0 || !slices.Equal(files(t, s), before) {
		t.Errorf("something has changed: %v", f.Calls())
	}
}

// A manifest that can't be read ends the run before it removes anything.
func TestBrokenManifest(t *testing.T) {
	for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
		base := sample(t, n)
		for where, name := range places(base) {
			for what, alter := range map[string]func(b []byte) []byte{
				"no bytes":     func([]byte) []byte { return nil },
				"one byte":     func(b []byte) []byte { return b[:1] },
				"cut in two":   func(b []byte) []byte { return b[:len(b)/2] },
				"cut short":    func(b []byte) []byte { return b[:len(b)-1] },
				"other bytes":  func(b []byte) []byte { return bytes.Repeat([]byte{'x'}, len(b)) },
				"half of it 0": func(b []byte) []byte { return append(make([]byte, len(b)/2), b[len(b)/2:]...) },
			} {
				s := again(t, base.s)
				overwrite(t, s, name, alter)
				before := files(t, s)
				res, err := Run(t.Context(), s, options(everything))
				if !errors.Is(err, table.ErrCorrupt) && !errors.Is(err, table.ErrRefused) || res.Changed {
					t.Errorf("%s, %s: %+v, error %v", where, what, res, err)
					continue
				}
				says(t, err.Error(), name[strings.Index(name, "_versions"):])
				if !slices.Equal(files(t, s), before) {
					t.Errorf("%s, %s: something has changed", where, what)
				}
			}
		}
	}
}

// change decodes a manifest and encodes it again with something else in it.
func change(tb testing.TB, s *dirstore.Store, name string, alter func(m *pb.Manifest)) {
	tb.Helper()
	dir, base := "", name
	if i := strings.Index(name, "_versions/"); i > 0 {
		dir, base = name[:i], name[i:]
	}
	var sub objects.Store = s
	if dir != "" {
		sub = objects.Sub(s, strings.TrimSuffix(dir, "/"))
	}
	l, err := table.ListVersions(context.Background(), sub)
	if err != nil {
		tb.Fatal(err)
	}
	i := slices.IndexFunc(append(l.Versions, l.Detached...), func(r table.VersionRef) bool { return r.Name == base })
	t, err := table.OpenRef(context.Background(), sub, l, append(l.Versions, l.Detached...)[i])
	if err != nil {
		tb.Fatal(err)
	}
	m := proto.CloneOf(t.Manifest())
	m.IndexSection = nil
	alter(m)
	overwrite(tb, s, name, func([]byte) []byte { return encode(tb, m, t.Indices()) })
}

func TestUnknownFlags(t *testing.T) {
	base := sample(t, table.NamingV2)
	for where, name := range places(base) {
		for bit := 6; bit <= 20; bit++ {
			flag := uint64(1) << bit
			for _, word := range []string{"reader", "writer", "both"} {
				if bit >= 8 && bit != 14 && word == "both" || !full && (bit*7+len(where))%5 != 0 {
					continue
				}
				s := again(t, base.s)
				change(t, s, name, func(m *pb.Manifest) {
					if word != "writer" {
						m.ReaderFeatureFlags |= flag
					}
					if word != "reader" {
						m.WriterFeatureFlags |= flag
					}
				})
				t.Run(fmt.Sprint(where, " ", word, " ", flag), func(t *testing.T) {
					refuses(t, s, table.ErrRefused, name[strings.Index(name, "_versions"):], fmt.Sprint(flag))
				})
			}
		}
	}
}

func unknownField(n protowire.Number) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), "data/secret.lance")
}

// A field that is not known may name files.
func TestUnknownFields(t *testing.T) {
	base := sample(t, table.NamingV2)
	for where, name := range places(base) {
		for what, alter := range map[string]func(m *pb.Manifest){
			"manifest":      func(m *pb.Manifest) { m.ProtoReflect().SetUnknown(unknownField(27)) },
			"fragment tree": func(m *pb.Manifest) { m.ProtoReflect().SetUnknown(unknownField(22)) },
			"fragment": func(m *pb.Manifest) {
				m.Fragments[0].ProtoReflect().SetUnknown(unknownField(11))
			},
			"data file": func(m *pb.Manifest) { m.Fragments[0].Files[0].ProtoReflect().SetUnknown(unknownField(8)) },
			"deletion file": func(m *pb.Manifest) {
				m.Fragments[0].DeletionFile = &pb.DeletionFile{}
				m.Fragments[0].DeletionFile.ProtoReflect().SetUnknown(unknownField(9))
			},
			"behind one that does no harm": func(m *pb.Manifest) {
				m.ProtoReflect().SetUnknown(append(unknownField(25), unknownField(28)...))
			},
		} {
			s := again(t, base.s)
			change(t, s, name, alter)
			t.Run(where+" "+what, func(t *testing.T) { refuses(t, s, table.ErrRefused, name[strings.Index(name, "_versions"):], "field") })
		}
		// Marks and labels.
		s := again(t, base.s)
		change(t, s, name, func(m *pb.Manifest) {
			m.ProtoReflect().SetUnknown(slices.Concat(unknownField(24), unknownField(25), unknownField(26)))
			m.Fragments[0].ProtoReflect().SetUnknown(append(unknownField(15), unknownField(16)...))
			m.Fields[0].ProtoReflect().SetUnknown(unknownField(99))
		})
		clean(t, s, everything)
		everyVersion(t, s)
	}
}

// Other things that a run must be able to read.
func TestBrokenNeighbours(t *testing.T) {
	base := sample(t, table.NamingV2)
	for name, tt := range map[string]struct {
		file, content string
		want          error
	}{
		"tag":                 {"_refs/tags/odd.json", "{", table.ErrCorrupt},
		"tag of no version":   {"_refs/tags/odd.json", "{}", table.ErrCorrupt},
		"branch":              {"_refs/branches/odd.json", "", table.ErrCorrupt},
		"both namings":        {"_versions/99.manifest", "x", table.ErrRefused},
		"manifest elsewhere":  {"tree/z/y/_versions/1.manifest", "x", table.ErrCorrupt},
		"an index without id": {"", "", table.ErrCorrupt},
	} {
		s := again(t, base.s)
		if tt.file == "" {
			m := proto.CloneOf(base.m)
			overwrite(t, s, base.n.ManifestName(m.Version), func([]byte) []byte {
				return encode(t, m, []*pb.IndexMetadata{{Name: "i", Uuid: &pb.UUID{Uuid: []byte{1, 2}}}})
			})
		} else if err := s.Publish(t.Context(), tt.file, []byte(tt.content)); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { refuses(t, s, tt.want) })
	}
	if _, err := Run(t.Context(), dirStore(t, t.TempDir()), options(everything)); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("no table: error %v", err)
	}
}

// Tables of other formats, and directories that are none, are not touched (#38).
func TestNoLanceTable(t *testing.T) {
	for _, names := range [][]string{nil, {"metadata/v1.metadata.json", "data/a.parquet"}, {"_delta_log/0.json", "data/x.lance"}, {"_versions/notes.txt", "data/x.lance"}} {
		s := dirStore(t, t.TempDir())
		for _, n := range names {
			if err := s.Publish(t.Context(), n, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		refuses(t, s, table.ErrNoTable)
		if _, err := detect(t.Context(), s, everything, start); !errors.Is(err, table.ErrNoTable) {
			t.Errorf("%v: detection: error %v", names, err)
		}
	}
}

// A version that vanished between listing and reading was another cleaner's.
func TestVanished(t *testing.T) {
	for _, n := range []table.Naming{table.NamingV1, table.NamingV2} {
		for v := uint64(1); v <= 8; v++ {
			w := sample(t, n)
			name := w.n.ManifestName(v)
			gone := false
			f := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
				if c.Op == faultstore.Open && c.Phase == faultstore.Before && c.Name == name && !gone {
					gone = true
					if err := w.s.Delete(t.Context(), name); err != nil {
						t.Error(err)
					}
				}
				return faultstore.Pass
			})
			if _, err := Run(t.Context(), f, options(everything)); err != nil {
				t.Errorf("%s, version %d: %v", n, v, err)
			}
			everyVersion(t, w.s)
		}
	}
	// Even the newest, when there is a newer one.
	w := newWorld(t, table.NamingV2)
	w.append()
	w.append()
	done := false
	f := faultstore.New(w.s, func(c faultstore.Call) faultstore.Action {
		if c.Op == faultstore.Open && c.Phase == faultstore.Before && c.Name == w.n.ManifestName(2) && !done {
			done = true
			w.merge()
			if err := w.s.Delete(t.Context(), w.n.ManifestName(2)); err != nil {
				t.Error(err)
			}
		}
		return faultstore.Pass
	})
	if _, err := Run(t.Context(), f, options(everything)); err != nil {
		t.Error(err)
	}
	everyVersion(t, w.s)
}
