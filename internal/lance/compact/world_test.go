package compact

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

func newUUID() string { return uuid.NewString() }

// encode puts a manifest object together.
func encode(tb testing.TB, m *pb.Manifest, indices *pb.IndexSection, txn *pb.Transaction) []byte {
	tb.Helper()
	var b []byte
	section := func(x proto.Message) uint64 {
		raw, err := proto.Marshal(x)
		if err != nil {
			tb.Fatal(err)
		}
		pos := uint64(len(b))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(raw)))
		b = append(b, raw...)
		return pos
	}
	m.IndexSection, m.TransactionSection, m.TransactionSectionV13 = nil, nil, nil
	if indices != nil {
		m.IndexSection = proto.Uint64(section(indices))
	}
	if txn != nil {
		m.TransactionSection = proto.Uint64(section(txn))
	}
	pos := section(m)
	b = binary.LittleEndian.AppendUint64(b, pos)
	return append(b, 0, 0, 2, 0, 'L', 'A', 'N', 'C')
}

// publishManifest makes a version of a table, with the indices of another.
func publishManifest(tb testing.TB, s objects.Store, head *table.Table, m *pb.Manifest, txn *pb.Transaction) {
	tb.Helper()
	var indices *pb.IndexSection
	if len(head.Indices()) > 0 {
		indices = &pb.IndexSection{Indices: head.Indices()}
	}
	m.TransactionFile = ""
	b := encode(tb, m, indices, txn)
	if err := s.Publish(context.Background(), head.Naming().ManifestName(m.GetVersion()), b); err != nil {
		tb.Fatal(err)
	}
}

func readAll(tb testing.TB, s objects.Store, name string) ([]byte, error) {
	tb.Helper()
	b, _, err := objects.ReadAll(context.Background(), s, name, 1<<30)
	return b, err
}

// withGlobalBuffer gives a data file a second global buffer, which lies at its start.
func withGlobalBuffer(b []byte) []byte {
	const footer = 40
	foot := append([]byte(nil), b[len(b)-footer:]...)
	out := append([]byte(nil), b[:len(b)-footer]...)
	out = binary.LittleEndian.AppendUint64(out, 0)
	out = binary.LittleEndian.AppendUint64(out, 8)
	binary.LittleEndian.PutUint32(foot[24:], binary.LittleEndian.Uint32(foot[24:])+1)
	return append(out, foot...)
}

// bitmapOf encodes a fragment bitmap.
func bitmapOf(tb testing.TB, ids ...uint32) []byte {
	tb.Helper()
	b, err := roaring.BitmapOf(ids...).ToBytes()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
