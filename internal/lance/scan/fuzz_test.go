package scan

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// encodeManifest makes the object of a manifest.
func encodeManifest(m *pb.Manifest) ([]byte, error) {
	m.IndexSection, m.TransactionSection, m.TransactionSectionV13 = nil, nil, nil
	raw, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(raw)))
	b = append(append(b, raw...), make([]byte, 8)...)
	return append(b, 0, 0, 2, 0, 'L', 'A', 'N', 'C'), nil
}

// FuzzFragment scans real files by what any entry says of them: an error, or rows; no panic.
func FuzzFragment(f *testing.F) {
	names := []string{"nested", "rewritten", "blob_22", "blob_20", "bases", "packed_22", "mixed", "shared_types_20", "shared_stable_ids", "shared_deletions"}
	tables := make([]*table.Table, len(names))
	for i, name := range names {
		tables[i] = openFixture(f, name)
		for _, frag := range tables[i].Fragments() {
			raw, err := proto.Marshal(frag)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), raw)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		base := tables[int(which)%len(tables)]
		frag := new(pb.DataFragment)
		if proto.Unmarshal(raw, frag) != nil {
			return
		}
		m := proto.Clone(base.Manifest()).(*pb.Manifest)
		m.Fragments = []*pb.DataFragment{frag}
		b, err := encodeManifest(m)
		if err != nil {
			return
		}
		tab, err := table.Decode(base.Store(), base.Ref(), base.Naming(), b)
		if err != nil {
			return
		}
		// Without a number of deleted rows in the entry all may be deleted.
		known := frag.GetDeletionFile() == nil || frag.GetDeletionFile().GetNumDeletedRows() != 0
		limit := uint64(500)
		for _, bytes := range []bool{false, true} {
			s, err := Open(t.Context(), tab, everyRowColumn(Options{Limit: &limit, BlobBytes: bytes, Bases: beside(t), BatchBytes: 1 << 20, ReadAhead: 1 << 20}))
			if err != nil {
				return
			}
			var rows int64
			for {
				batch, err := s.Next(t.Context())
				if errors.Is(err, io.EOF) && known && tab.Rows() != 0 && rows == 0 {
					t.Error("no rows and no error")
				}
				if err != nil {
					break
				}
				rows += batch.NumRows()
			}
			s.Close()
			if rows > int64(limit) {
				t.Errorf("%d rows, want at most %d", rows, limit)
			}
		}
	})
}
