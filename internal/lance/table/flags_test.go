package table

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// patched is a manifest of testdata with other flags.
func patched(t *testing.T, m manifest, reader, writer uint64) []byte {
	t.Helper()
	f, err := decodeManifest(m.name, m.b)
	if err != nil {
		t.Fatal(err)
	}
	f.manifest.ReaderFeatureFlags |= reader
	f.manifest.WriterFeatureFlags |= writer
	return mustEncode(t, f)
}

func TestFlagsThatAreNotUnderstood(t *testing.T) {
	m := manifests(t)[0]
	for bit := 6; bit <= 20; bit++ {
		flag := uint64(1) << bit
		if flag&paired != 0 {
			continue
		}
		t.Run(fmt.Sprint(flag), func(t *testing.T) {
			for _, writer := range []uint64{0, flag} {
				_, err := Decode(nil, m.ref, m.n, patched(t, m, flag, writer))
				if !errors.Is(err, ErrRefused) {
					t.Errorf("reader flag %d, writer flag %d: opened with error %v", flag, writer, err)
				}
				says(t, err, m.ref.Name, fmt.Sprint(flag))
			}
			tab, err := Decode(nil, m.ref, m.n, patched(t, m, 0, flag))
			if err != nil {
				t.Fatalf("a writer flag alone hinders reading: %v", err)
			}
			if err := tab.Writable(); !errors.Is(err, ErrRefused) {
				t.Errorf("writer flag: writable with error %v", err)
			} else {
				says(t, err, m.ref.Name, fmt.Sprint(flag))
			}
			if _, err := committer(nil).Commit(t.Context(), tab, reserve(1)); !errors.Is(err, ErrRefused) {
				t.Errorf("writer flag: commits with error %v", err)
			}
		})
	}
	// The highest there is.
	if _, err := Decode(nil, m.ref, m.n, patched(t, m, 1<<63, 0)); !errors.Is(err, ErrRefused) {
		t.Errorf("flag 2^63: error %v", err)
	}
	// Names for what other releases set.
	_, err := Decode(nil, m.ref, m.n, patched(t, m, 64|1024, 0))
	says(t, err, "64 (data overlay files)", "1024 (tagged fragment reuse index)")
}

// Data files of several versions and managed blobs are read and written on top of, and the table stays one that may have them. Such
// a flag is in both words or in none.
func TestPairedFlags(t *testing.T) {
	for _, flag := range []uint64{FlagMixedVersions, FlagManagedBlobs} {
		t.Run(fmt.Sprint(flag), func(t *testing.T) { pairedFlag(t, flag) })
	}
}

func pairedFlag(t *testing.T, flag uint64) {
	m := manifests(t)[0]
	tab, err := Decode(nil, m.ref, m.n, patched(t, m, flag, flag))
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.Writable(); err != nil {
		t.Errorf("writable with error %v", err)
	}
	after, err := apply(tab, reserve(1), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if r, w := after.manifest.GetReaderFeatureFlags(), after.manifest.GetWriterFeatureFlags(); r&w&flag == 0 {
		t.Errorf("flags %d and %d after a commit", r, w)
	}
	if _, err := Decode(nil, m.ref, m.n, patched(t, m, flag, 0)); !errors.Is(err, ErrRefused) {
		t.Errorf("for readers only: opened with error %v", err)
	}
	if tab, err := Decode(nil, m.ref, m.n, patched(t, m, 0, flag)); err != nil || tab.Writable() == nil {
		t.Errorf("for writers only: error %v", err)
	}
}

func TestFlagsThatAreUnderstood(t *testing.T) {
	m := manifests(t)[0]
	for _, flag := range []uint64{0, 1, 4, 8, 16, 32} {
		tab, err := Decode(nil, m.ref, m.n, patched(t, m, flag, flag))
		if err != nil || tab.Writable() != nil {
			t.Errorf("flag %d: error %v", flag, err)
		}
	}
}

// The flags of a new manifest are made from what it holds, but for those that
// a table keeps.
func TestFlagsOfNewManifest(t *testing.T) {
	deleted := []*pb.DataFragment{{}, {DeletionFile: &pb.DeletionFile{}}}
	config := map[string]string{"a": "b"}
	bases := []*pb.BasePath{{}}
	tests := []struct {
		name                   string
		m                      *pb.Manifest
		wantReader, wantWriter uint64
	}{
		{"nothing", &pb.Manifest{}, 0, 0},
		{"no longer deletions", &pb.Manifest{ReaderFeatureFlags: 1, WriterFeatureFlags: 1}, 0, 0},
		{"no longer a config", &pb.Manifest{WriterFeatureFlags: 8}, 0, 0},
		{"no longer bases", &pb.Manifest{ReaderFeatureFlags: 16, WriterFeatureFlags: 16}, 0, 0},
		{"deletions", &pb.Manifest{Fragments: deleted}, 1, 1},
		{"config", &pb.Manifest{Config: config}, 0, 8},
		{"bases", &pb.Manifest{BasePaths: bases}, 16, 16},
		{"stable row ids stay", &pb.Manifest{ReaderFeatureFlags: 2, WriterFeatureFlags: 2}, 2, 2},
		{"the old flag stays", &pb.Manifest{ReaderFeatureFlags: 4, WriterFeatureFlags: 4}, 4, 4},
		{"inline only stays", &pb.Manifest{WriterFeatureFlags: 32}, 0, 32},
		{"all", &pb.Manifest{ReaderFeatureFlags: 2, WriterFeatureFlags: 2 | 32, Fragments: deleted, Config: config, BasePaths: bases}, 1 | 2 | 16, 1 | 2 | 8 | 16 | 32},
	}
	for _, tt := range tests {
		setFlags(tt.m)
		if r, w := tt.m.ReaderFeatureFlags, tt.m.WriterFeatureFlags; r != tt.wantReader || w != tt.wantWriter {
			t.Errorf("%s: %d/%d, want %d/%d", tt.name, r, w, tt.wantReader, tt.wantWriter)
		}
	}
}

// What real Lance set, this build would set too.
func TestFlagsOfFixtures(t *testing.T) {
	for _, m := range manifests(t) {
		f, err := decodeManifest(m.name, m.b)
		if err != nil {
			t.Fatal(err)
		}
		x := f.manifest
		r, w := x.ReaderFeatureFlags, x.WriterFeatureFlags
		setFlags(x)
		if x.ReaderFeatureFlags != r || x.WriterFeatureFlags != w {
			t.Errorf("%s: flags %d/%d, would be %d/%d", m.name, r, w, x.ReaderFeatureFlags, x.WriterFeatureFlags)
		}
	}
}
