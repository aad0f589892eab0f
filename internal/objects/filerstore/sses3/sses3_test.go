package sses3

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/s3api"
)

// fixture is what weed's own encryption made; testdata/README.md tells how.
type fixture struct {
	Secret     string `json:"kek_secret"`
	KEK        string `json:"kek_hex"`
	Passphrase string `json:"kek_passphrase"`
	V1         string `json:"kek_wrapped_v1"`
	V2         string `json:"kek_wrapped_v2"`
	Plain      string `json:"plaintext"`
	Object     string `json:"object_metadata"`
	Chunks     []struct {
		Offset int64  `json:"offset"`
		Cipher string `json:"ciphertext"`
		Key    string `json:"sse_metadata"`
	} `json:"chunks"`
	Whole      string `json:"whole_ciphertext"`
	Commitment string `json:"commitment_sample"`
}

func golden(t *testing.T) (f fixture) {
	t.Helper()
	data, err := os.ReadFile("testdata/weed.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSources: each place that the KEK can come from, and what is refused.
func TestSources(t *testing.T) {
	f := golden(t)
	other := strings.Repeat("ab", 32)
	at := func(content string) File { return File{Exists: true, Content: []byte(content)} }
	for name, c := range map[string]struct {
		settings settings
		file     File
		// want is the KEK in hex, "" for none; refused is in the error.
		want, refused string
	}{
		"nothing":                       {settings{}, File{}, "", ""},
		"a passphrase alone":            {settings{passphrase: "x"}, File{}, "", ""},
		"s3.sse.kek":                    {settings{kek: f.KEK}, File{}, f.KEK, ""},
		"s3.sse.kek, the file the same": {settings{kek: f.KEK}, at(f.KEK), f.KEK, ""},
		"s3.sse.kek, wrapped the same":  {settings{kek: f.KEK, passphrase: f.Passphrase}, at(f.V2), f.KEK, ""},
		"s3.sse.kek, the file another":  {settings{kek: f.KEK}, at(other), "", "is not the key in the filer's /etc/s3/sse_kek"},
		"s3.sse.kek, an unclear file":   {settings{kek: f.KEK}, at("?"), "", "not in hex"},
		"s3.sse.kek not in hex":         {settings{kek: "secret"}, File{}, "", "s3.sse.kek: not in hex"},
		"s3.sse.kek too short":          {settings{kek: f.KEK[2:]}, File{}, "", "31 bytes"},
		"s3.sse.key":                    {settings{key: f.Secret}, File{}, f.KEK, ""},
		"s3.sse.key and a file":         {settings{key: f.Secret}, at(f.KEK), "", "can't be used while"},
		"both":                          {settings{kek: f.KEK, key: f.Secret}, File{}, "", "only one of"},
		"file in hex":                   {settings{}, at(f.KEK), f.KEK, ""},
		"file in hex with a line end":   {settings{}, at(f.KEK + "\n"), f.KEK, ""},
		"file older than passphrase":    {settings{passphrase: f.Passphrase}, at(f.KEK), f.KEK, ""},
		"file of version 1":             {settings{passphrase: f.Passphrase}, at(f.V1), f.KEK, ""},
		"file of version 2":             {settings{passphrase: f.Passphrase}, at(f.V2), f.KEK, ""},
		"wrapped, no passphrase":        {settings{}, at(f.V2), "", "not in hex"},
		"wrapped, another passphrase":   {settings{passphrase: "x"}, at(f.V2), "", "unwrapping it with s3.sse.kek.passphrase"},
		"wrapped, cut short":            {settings{passphrase: f.Passphrase}, at("U1d2Mg=="), "", "too short"},
		"empty file":                    {settings{}, at(""), "", "it is empty"},
		"empty file, passphrase":        {settings{passphrase: f.Passphrase}, at(" \n"), "", "it is empty"},
		"file of half a key":            {settings{}, at(f.KEK[:32]), "", "16 bytes"},
	} {
		got, err := c.settings.resolve(c.file)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) || got != nil {
				t.Errorf("%s: %x, %v; want %q", name, got, err, c.refused)
			}
			if _, err := load(c.settings, c.file); !errors.Is(err, ErrKeys) {
				t.Errorf("%s: loading: %v", name, err)
			}
		case err != nil || hex.EncodeToString(got) != c.want:
			t.Errorf("%s: %x, %v", name, got, err)
		}
		for _, secret := range []string{f.KEK, f.Secret, f.Passphrase, other} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error tells a secret: %v", name, err)
			}
		}
	}
}

// TestEnvironment: the settings are weed's own, and lead its key manager to the
// same KEK.
func TestEnvironment(t *testing.T) {
	f := golden(t)
	for name, c := range map[string]struct {
		env  map[string]string
		file File
	}{
		"kek":        {map[string]string{"WEED_S3_SSE_KEK": f.KEK}, File{}},
		"kek + file": {map[string]string{"WEED_S3_SSE_KEK": f.KEK, "WEED_S3_SSE_KEK_PASSPHRASE": f.Passphrase}, File{Exists: true, Content: []byte(f.V1)}},
		"key":        {map[string]string{"WEED_S3_SSE_KEY": f.Secret}, File{}},
		"file":       {map[string]string{"WEED_S3_SSE_KEK_PASSPHRASE": f.Passphrase}, File{Exists: true, Content: []byte(f.V1)}},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			k, err := Load(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if hex.EncodeToString(k.kek) != f.KEK || k.Configured() != nil {
				t.Errorf("another KEK, %v", k.Configured())
			}
			weeds := manager(t, c.file)
			if _, err := s3api.DeserializeSSES3Metadata([]byte(f.Object), weeds); err != nil {
				t.Errorf("weed's key manager: %v", err)
			}
			if _, err := k.parse([]byte(f.Object)); err != nil {
				t.Error(err)
			}
			if k.commitment {
				t.Error("demands a commitment")
			}
			t.Setenv("WEED_S3_REQUIRE_KEY_COMMITMENT", "true")
			strict, err := Load(c.file)
			if err != nil || !strict.commitment {
				t.Errorf("demands none: %v", err)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		k, err := Load(File{})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Configured(); !errors.Is(err, ErrKeys) || !strings.Contains(err.Error(), "s3.sse.kek") {
			t.Errorf("got %v", err)
		}
		if _, err := k.parse([]byte(f.Object)); !errors.Is(err, ErrKeys) {
			t.Errorf("got %v", err)
		}
		if _, err := k.NewObject(); !errors.Is(err, ErrKeys) {
			t.Errorf("got %v", err)
		}
	})
}
