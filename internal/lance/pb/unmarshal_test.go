package pb

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Fields that nobody here knows stay, known ones that look like others are errors, wherever they are.
func TestUnmarshal(t *testing.T) {
	m := &Manifest{Fragments: []*DataFragment{
		{Id: 1, Files: []*DataFile{{Path: "a", Fields: []int32{0}}}},
		{Id: 2, Files: []*DataFile{{Path: "b"}}, DeletionFile: &DeletionFile{ReadVersion: 7, NumDeletedRows: 5}},
	}}
	whole, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	fragment, err := proto.Marshal(m.Fragments[1])
	if err != nil {
		t.Fatal(err)
	}
	unknown := protowire.AppendString(protowire.AppendTag(nil, 4000, protowire.BytesType), "of a newer release")
	// The number of the fragment's deletion file with that of its id: one bit.
	flipped := append([]byte(nil), fragment...)
	at := strings.LastIndexByte(string(flipped), 0x1a)
	flipped[at] ^= 0x10
	nested := func(fragment []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(append([]byte(nil), whole...), 2, protowire.BytesType), fragment)
	}
	for name, tt := range map[string]struct {
		b    []byte
		says string
	}{
		"as it was":          {whole, ""},
		"unknown":            {append(append([]byte(nil), whole...), unknown...), ""},
		"unknown inside":     {nested(append(append([]byte(nil), fragment...), unknown...)), ""},
		"another kind":       {protowire.AppendVarint(protowire.AppendTag(append([]byte(nil), whole...), 2, protowire.VarintType), 9), "field fragments of message Manifest"},
		"one bit inside":     {nested(flipped), "field id of message DataFragment has wire type 2"},
		"behind an unknown":  {nested(append(append([]byte(nil), unknown...), flipped...)), "field id of message DataFragment"},
		"packed or unpacked": {nested(protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 3))), ""},
		"cut":                {whole[:len(whole)-1], "cannot parse"},
	} {
		var got Manifest
		err := Unmarshal(tt.b, &got)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %q", name, err, tt.says)
		}
		if err != nil {
			continue
		}
		if again, err := proto.Marshal(&got); err != nil || len(again) < len(tt.b)-2 {
			t.Errorf("%s: %d bytes of %d come back, error %v", name, len(again), len(tt.b), err)
		}
	}
}

// Decoding never panics, and what it takes it has checked.
func FuzzUnmarshal(f *testing.F) {
	seed, _ := proto.Marshal(&Manifest{Version: 3, Fragments: []*DataFragment{{Id: 1, Files: []*DataFile{{Path: "a", Fields: []int32{0}}}}}})
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Manifest
		if Unmarshal(b, &m) == nil && checkWire(m.ProtoReflect()) != nil {
			t.Error("taken, and wrong")
		}
	})
}
