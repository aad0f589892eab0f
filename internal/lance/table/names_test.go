package table

import (
	"math"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func TestManifestNames(t *testing.T) {
	tests := []struct {
		n    Naming
		v    uint64
		want string
	}{
		{NamingV1, 1, "_versions/1.manifest"},
		{NamingV1, 12345, "_versions/12345.manifest"},
		{NamingV2, 1, "_versions/18446744073709551614.manifest"},
		{NamingV2, 1 << 62, "_versions/13835058055282163711.manifest"},
		{NamingV2, math.MaxInt64, "_versions/09223372036854775808.manifest"},
		{NamingV1, 1<<63 | 5, "_versions/d9223372036854775813.manifest"},
		{NamingV2, math.MaxUint64, "_versions/d18446744073709551615.manifest"},
	}
	for _, tt := range tests {
		if got := tt.n.ManifestName(tt.v); got != tt.want {
			t.Errorf("%s, version %d: %s, want %s", tt.n, tt.v, got, tt.want)
		}
		v, n, detached, ok := parseManifestName(tt.want[len("_versions/"):])
		if !ok || v != tt.v || detached != (tt.v >= 1<<63) || !detached && n != tt.n {
			t.Errorf("%s: version %d, %s, detached %t, %t", tt.want, v, n, detached, ok)
		}
	}
}

// Names that are no version's: what lies in _versions besides manifests.
func TestOddNames(t *testing.T) {
	for _, name := range []string{
		"", ".manifest", "manifest", "latest_version_hint.json", "1.manifest.tmp", ".tmp-1.manifest-0011223344556677",
		"1.manifest-0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d", "18446744073709551614.manifest-0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d",
		"+1.manifest", "-1.manifest", "1_000.manifest", " 1.manifest", "0x1.manifest", "1e3.manifest", "١.manifest",
		"99999999999999999999.manifest", // beyond 64 bits
		"00000000000000000001.manifest", // the version would have the top bit
		"9223372036854775808.manifest",  // the same, in V1
		"d5.manifest",                   // detached, but without the top bit
		"d.manifest", "dd.manifest", "d99999999999999999999.manifest",
		"D9223372036854775813.manifest", "1.MANIFEST",
	} {
		if v, n, detached, ok := parseManifestName(name); ok {
			t.Errorf("%q: taken for version %d (%s, detached %t)", name, v, n, detached)
		}
	}
}

func TestOtherNames(t *testing.T) {
	d := &pb.DeletionFile{ReadVersion: 7, Id: 12}
	if got := DeletionName(3, d); got != "_deletions/3-7-12.arrow" {
		t.Error(got)
	}
	d.FileType = pb.DeletionFile_BITMAP
	if got := DeletionName(3, d); got != "_deletions/3-7-12.bin" {
		t.Error(got)
	}
	if got := TransactionName(4, "abc"); got != "_transactions/4-abc.txn" {
		t.Error(got)
	}
	for name, want := range map[string]string{
		"4-0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d.txn": "0b9a7a33-6c1e-4a35-8a20-6d7a0c1b2a3d",
		"4-abc.txn": "abc", "4.txn": "", "": "", "4-abc": "", "-.txn": "",
	} {
		if got := uuidOfTransactionName(name); got != want {
			t.Errorf("%s: uuid %q", name, got)
		}
	}
	if NamingUnknown.String() != "unknown" || NamingV1.String() != "V1" || NamingV2.String() != "V2" {
		t.Error("names of namings")
	}
}

func FuzzParseManifestName(f *testing.F) {
	for _, m := range manifests(f) {
		f.Add(m.ref.Name[len("_versions/"):])
	}
	f.Add("d18446744073709551615.manifest")
	f.Fuzz(func(t *testing.T, name string) {
		v, n, detached, ok := parseManifestName(name)
		if !ok {
			return
		}
		if detached != (v >= 1<<63) {
			t.Errorf("%q: version %d, detached %t", name, v, detached)
		}
		// A name is the one that its version would get, but for zeros before
		// the digits of V1 and detached ones.
		if again, _, _, ok := parseManifestName(n.ManifestName(v)[len("_versions/"):]); !ok || again != v {
			t.Errorf("%q: version %d, whose name is read as %d", name, v, again)
		}
	})
}
