package array

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// TestKeepWritten keeps rows of larger pages by the writer of this package, with and without compression.
func TestKeepWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	text := array.NewStringBuilder(memory.DefaultAllocator)
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	const n = 20000
	for i := range n {
		if i%9 == 0 {
			text.AppendNull()
			lists.AppendNull()
			continue
		}
		text.Append(strings.Repeat(fmt.Sprint("value ", i%100, " of many"), i%7))
		lists.Append(true)
		for j := range i % 4 {
			lists.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprint(i * j))
		}
	}
	for _, a := range []arrow.Array{text.NewArray(), lists.NewArray()} {
		for _, how := range []string{"", "fsst", "lz4", "zstd"} {
			f := arrow.Field{Name: "f", Type: a.DataType(), Nullable: true}
			if how != "" {
				f.Metadata = arrow.NewMetadata([]string{"lance-encoding:compression"}, []string{how})
			}
			next := 0
			of := numbered(f, &next)
			var s sink
			s.add(t, of, 1<<18, a)
			raw := s.file(t, n)
			file := openBytes(t, raw)
			done := 0
			for range 10 {
				if ok, _, _ := keepRows(t, raw, file, of, a, someRows(rng, n)); ok {
					done++
				}
			}
			if done < 3 {
				t.Errorf("%v, %q: done %d times", a.DataType(), how, done)
			}
		}
	}
}

// FuzzKeep keeps rows of pages of any encoding: an error or none, and no more memory than may be taken.
func FuzzKeep(f *testing.F) {
	seedPages(f, func(p pageSpec) {
		enc, err := proto.Marshal(p.enc)
		if err != nil {
			f.Fatal(err)
		}
		var data []byte
		cuts := [2]uint16{}
		for i, b := range p.buffers {
			data = append(data, b[:min(len(b), 400)]...)
			if i < 2 {
				cuts[i] = uint16(len(data))
			}
		}
		f.Add(enc, data, cuts[0], cuts[1], min(p.rows, 100), uint64(1))
	})
	f.Fuzz(func(t *testing.T, enc, data []byte, cut1, cut2 uint16, rows, seed uint64) {
		e := new(pb.ArrayEncoding)
		if proto.Unmarshal(enc, e) != nil || len(data) > 1<<16 || rows == 0 {
			return
		}
		a, b := min(int(cut1), len(data)), min(int(cut2), len(data))
		a, b = min(a, b), max(a, b)
		m := &pb.ColumnMetadata_Page{Length: rows, Encoding: wrapped(t, "ArrayEncoding", e)}
		bufs := [][]byte{data[:a], data[a:b], data[b:]}
		rng := rand.New(rand.NewPCG(seed, 1))
		keep := someRows(rng, min(rows, 200))
		if seed%3 == 0 {
			keep = []column.Range{{From: rng.Uint64N(rows), To: rows}}
		}
		keep, err := column.CheckRanges(keep, rows)
		if err != nil {
			t.Fatal(err)
		}
		out, ok, err := Keep(m, bufs, keep, 1<<16, nil)
		if ok && err == nil {
			total := 0
			for _, b := range out.Buffers {
				total += len(b)
			}
			if total > 1<<16+len(data) {
				t.Errorf("%d bytes of %d", total, len(data))
			}
		}
		if _, _, err := ItemsOf(m, bufs, keep); e.GetList() == nil && err == nil {
			t.Error("items of what is no list")
		}
	})
}
