package fsst

import (
	"bytes"
	"testing"
)

// apart decodes strings one by one.
func apart(t *Table, dst, src []byte, ends []int64) ([]byte, []int64, error) {
	var out []int64
	start := int64(0)
	for _, end := range ends {
		var err error
		if dst, err = t.Append(dst, src[start:end]); err != nil {
			return nil, nil, err
		}
		out = append(out, int64(len(dst)))
		start = end
	}
	return dst, out, nil
}

func TestAppendStrings(t *testing.T) {
	for _, stored := range [][]byte{store(1, words...), store(0)} {
		table, err := Parse(stored)
		if err != nil {
			t.Fatal(err)
		}
		var src []byte
		ends := []int64{0}
		for i, s := range []string{"", "lance", "ü", "a tabletop", "0123xy\xff\xff", "x", "", "lance lance lance lance a a a a"} {
			src = append(src, encode(s, words...)...)
			for range i % 3 {
				ends = append(ends, int64(len(src)))
			}
		}
		ends = append(ends, int64(len(src)))
		wantData, wantEnds, err := apart(table, []byte("head"), src, ends)
		if err != nil {
			t.Fatal(err)
		}
		got, err := table.AppendStrings([]byte("head"), src, ends)
		if err != nil || !bytes.Equal(got, wantData) {
			t.Fatalf("%q, error %v, want %q", got, err, wantData)
		}
		for i := range ends {
			if ends[i] != wantEnds[i] {
				t.Errorf("end %d: %d, want %d", i, ends[i], wantEnds[i])
			}
		}
	}
}

func FuzzAppendStrings(f *testing.F) {
	f.Add(store(1, words...), encode("lance tabletop 0123 ü", words...), uint64(5))
	f.Add(store(0), []byte("plain"), uint64(3))
	f.Add(store(1), []byte{255, 1, 255}, uint64(2))
	f.Fuzz(func(t *testing.T, stored, src []byte, cuts uint64) {
		table, err := Parse(stored)
		if err != nil {
			return
		}
		// Each bit is a string's end or none.
		var ends []int64
		for i := range src {
			if cuts>>(i%64)&1 != 0 {
				ends = append(ends, int64(i))
			}
		}
		ends = append(ends, int64(len(src)))
		wantData, wantEnds, wantErr := apart(table, nil, src, ends)
		got, err := table.AppendStrings(nil, src, ends)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("together %v, apart %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(got, wantData) {
			t.Fatalf("together %q, apart %q", got, wantData)
		}
		for i := range ends {
			if ends[i] != wantEnds[i] {
				t.Fatalf("end %d: %d, want %d", i, ends[i], wantEnds[i])
			}
		}
	})
}

func BenchmarkAppendStrings(b *testing.B) {
	table, err := Parse(store(1, words...))
	if err != nil {
		b.Fatal(err)
	}
	var src []byte
	var ends []int64
	for i := range 1000 {
		src = append(src, encode("lance tabletop 0123 xy"[:1+i%22], words...)...)
		ends = append(ends, int64(len(src)))
	}
	at := make([]int64, len(ends))
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		copy(at, ends)
		if dst, err = table.AppendStrings(dst[:0], src, at); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(dst)))
}
