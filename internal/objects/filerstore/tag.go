package filerstore

import (
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/util"
)

// errUntagged tells that a volume server's answer has no checksum in it.
var errUntagged = errors.New("the volume server's answer has no CRC-32C of what it stored")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// byTag tells whether the tag of a volume server's answer is to show that it
// stored what it was sent: it is a CRC-32C of the bytes as they are on the disk,
// which costs both sides next to nothing. Otherwise the server is sent the
// MD5 and compares, as it must
//
//   - where the bytes are encrypted on the way, so that their CRC is not known here;
//   - where it would compress them;
//   - where it makes replicas, which hear of a digest but whose tags nobody sees;
//   - once a tag has not matched, or there was none.
func (t *target) byTag(a *filer_pb.AssignVolumeResponse, data []byte) bool {
	return !t.conf.cipher && !t.digests.Load() && !replicated(a) && !compressible(data)
}

// replicated tells whether a volume has copies elsewhere. A filer that leaves
// replication to the master does not name it, but those who hold them.
func replicated(a *filer_pb.AssignVolumeResponse) bool {
	return len(a.GetReplicas()) > 0 || strings.Trim(a.GetReplication(), "0") != ""
}

// compressible tells whether a volume server would compress bytes of which it
// knows neither a name nor a type; it looks at the same beginning of them.
func compressible(data []byte) bool {
	should, sure := util.IsCompressableFileType("", http.DetectContentType(data))
	return should && sure
}

// checkTag compares a tag with the checksum of what was sent.
func checkTag(tag string, data []byte) error {
	stored, err := strconv.ParseUint(tag, 16, 32)
	if len(tag) != 8 || err != nil {
		return fmt.Errorf("%w: its tag is %q", errUntagged, tag)
	}
	if sent := crc32.Checksum(data, castagnoli); uint32(stored) != sent {
		return fmt.Errorf("stored with CRC-32C %08x, sent with %08x", stored, sent)
	}
	return nil
}
