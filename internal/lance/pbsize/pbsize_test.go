package pbsize

import (
	"fmt"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// What is said of a message is about what decoding it allocates and keeps.
func TestOf(t *testing.T) {
	wide := &pb.Manifest{SchemaMetadata: map[string][]byte{}, Config: map[string]string{}}
	for i := range 2000 {
		wide.Fields = append(wide.Fields, &pb.Field{Id: int32(i), Name: fmt.Sprintf("column_%d", i), LogicalType: "string", Metadata: map[string][]byte{"k": []byte("v")}})
		wide.SchemaMetadata[fmt.Sprintf("key %d", i)] = make([]byte, 100)
		wide.Config[fmt.Sprintf("config %d", i)] = "a value of some length"
	}
	long := &pb.Manifest{}
	for i := range 5000 {
		long.Fragments = append(long.Fragments, &pb.DataFragment{Id: uint64(i), PhysicalRows: 1000, Files: []*pb.DataFile{{
			Path: fmt.Sprintf("%064d.lance", i), Fields: []int32{0, 1, 2, 3}, ColumnIndices: []int32{0, 1, 2, 3}, FileMajorVersion: 2, FileSizeBytes: 1 << 20}},
			DeletionFile: &pb.DeletionFile{Id: uint64(i), NumDeletedRows: 3}})
	}
	column := &pb.ColumnMetadata{}
	for i := range 5000 {
		column.Pages = append(column.Pages, &pb.ColumnMetadata_Page{BufferOffsets: []uint64{1, 2, 3}, BufferSizes: []uint64{uint64(i), 5, 6}, Length: 1000, Priority: 1})
	}
	for name, m := range map[string]proto.Message{"wide": wide, "long": long, "column": column} {
		t.Run(name, func(t *testing.T) {
			b, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			const copies = 8
			out := make([]proto.Message, copies)
			before := heap()
			for i := range out {
				out[i] = m.ProtoReflect().New().Interface()
				if err := proto.Unmarshal(b, out[i]); err != nil {
					t.Fatal(err)
				}
			}
			took := (heap() - before) / copies
			if got := Of(out[0]); got < took*6/10 || got > took*16/10 {
				t.Errorf("%d bytes, decoding it keeps %d", got, took)
			}
			runtime.KeepAlive(out)
		})
	}
}

func TestNothing(t *testing.T) {
	if n := Of(nil); n != 0 {
		t.Errorf("nil takes %d bytes", n)
	}
	if n := Of((*pb.Manifest)(nil)); n != 0 {
		t.Errorf("a nil message takes %d bytes", n)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
