package jsonb_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/jsonb"
)

// documents are what pylance 14.0.2 stored, and what it read back of it.
var documents = []struct{ text, stored string }{
	{
		`{"a":[1,2.5,-3,1e+300,"xé\n\u0001\"\\/",null,true,false,{"z":18446744073709551615}],"b":1}`,
		"4000000210000001100000015000005c20000002616280000009200000022000000920000002200000091000000800000000400000003000000050000016500160400400000000000040fd607e37e43c8800759c78c3a90a01225c2f4000000110000001200000097a50ffffffffffffffff5001",
	},
	{`[]`, "80000000"},
	{`{}`, "40000000"},
	{`3`, "20000000200000025003"},
	{`"q"`, "200000001000000171"},
	{`0`, "200000002000000100"},
	{`-0.0`, "2000000020000009608000000000000000"},
	{`1.0`, "2000000020000009603ff0000000000000"},
	{`1e+20`, "2000000020000009604415af1d78b58c40"},
	{`1000000000000000.0`, "200000002000000960430c6bf526340000"},
	{`9999999999999998.0`, "2000000020000009604341c37937e07fff"},
	{`1e+16`, "2000000020000009604341c37937e08000"},
	{`0.00001`, "2000000020000009603ee4f8b588e368f1"},
	{`1.5e-6`, "2000000020000009603eb92a737110e454"},
	{`1e-7`, "2000000020000009603e7ad7f29abcaf48"},
	{`0.000012345678901234568`, "2000000020000009603ee9e409302678ba"},
	{`123456789012345678`, "20000000200000095001b69b4ba630f34e"},
	{`-9223372036854775808`, "2000000020000009408000000000000000"},
	{`1.7976931348623157e+308`, "2000000020000009607fefffffffffffff"},
	{`5e-324`, "2000000020000009600000000000000001"},
	{`255`, "200000002000000250ff"},
	{`256`, "20000000200000035001" + "00"},
	{`65536`, "20000000200000055000010000"},
	{`-1`, "200000002000000240ff"},
	{`-129`, "200000002000000340ff7f"},
	{`-32769`, "200000002000000540ffff7fff"},
	{`null`, "2000000000000000"},
	{`true`, "2000000040000000"},
	{"\"\u2028\x7f😀\\t\\b\\f\\r\"", "200000001000000ce280a87ff09f988009080c0d"},
	{`"\u001f\u000b/"`, "20000000100000031f0b2f"},
	{`[[[]]]`, "800000015000000c800000015000000480000000"},
	{`null`, "200000002000000120"}, // an infinity
	{`null`, ""},
}

func TestAppend(t *testing.T) {
	for _, d := range documents {
		b, err := hex.DecodeString(d.stored)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsonb.Append([]byte("x"), b)
		if err != nil || string(got) != "x"+d.text {
			t.Errorf("%s: got %q, %v; want %q", d.stored, got, err, d.text)
		}
	}
}

func TestAppendInvalid(t *testing.T) {
	for _, stored := range []string{
		"00", "00000000", "20000000", "200000001000000271", "8fffffff", "4000000120000001200000015001",
		"20000000200000035003", "2000000060000000", strings.Repeat("8000000150000000", 1000) + "80000000",
	} {
		b, err := hex.DecodeString(stored)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := jsonb.Append(nil, b); !errors.Is(err, jsonb.ErrInvalid) {
			t.Errorf("%s: got %q, %v", stored, got, err)
		}
	}
}

func FuzzAppend(f *testing.F) {
	for _, d := range documents {
		b, _ := hex.DecodeString(d.stored)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := jsonb.Append(nil, b)
		if err == nil && !json.Valid(got) {
			t.Errorf("%x: %q is no JSON", b, got)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	doc, _ := hex.DecodeString(documents[0].stored)
	var dst []byte
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = jsonb.Append(dst[:0], doc); err != nil {
			b.Fatal(err)
		}
	}
}
