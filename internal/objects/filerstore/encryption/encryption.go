// Package encryption tells, from filer entries, which S3 server-side encryption
// an object carries and which one a bucket applies to what is written into it.
//
// It decides nothing and decodes nothing; package sses3 does. What it can't read
// is an error, never "no encryption": writing plain bytes where the operator
// asked for encrypted ones is not to be taken back.
package encryption

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/s3_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"
)

// The schemes by the names their users know. An algorithm that is none of
// these is reported as it is stored.
const (
	SSES3  = "SSE-S3"
	SSEC   = "SSE-C"
	SSEKMS = "SSE-KMS"
)

// Object returns the scheme an object's bytes are encrypted with, "" for none.
// The chunks that its manifests name have to be asked about with Chunks.
func Object(e *filer_pb.Entry) string {
	if scheme := Chunks(e.GetChunks()); scheme != "" {
		return scheme
	}
	has := func(key string) bool { return len(e.GetExtended()[key]) > 0 }
	if has(s3_constants.AmzServerSideEncryptionCustomerAlgorithm) || has(s3_constants.AmzServerSideEncryptionCustomerKeyMD5) {
		return SSEC
	}
	switch algorithm := string(e.GetExtended()[s3_constants.AmzServerSideEncryption]); algorithm {
	case "":
		return ""
	case s3_constants.SSEAlgorithmAES256:
		// The header alone is left behind by a copy that decrypted; only with
		// a key beside it are the bytes encrypted.
		if has(s3_constants.SeaweedFSSSES3Key) {
			return SSES3
		}
		return ""
	default:
		return name(algorithm)
	}
}

// Chunks returns the scheme of the chunks, "" when none is encrypted. Of several,
// it is the first that is not SSE-S3.
func Chunks(chunks []*filer_pb.FileChunk) (scheme string) {
	for _, c := range chunks {
		switch c.GetSseType() {
		case filer_pb.SSEType_NONE:
		case filer_pb.SSEType_SSE_S3:
			scheme = SSES3
		case filer_pb.SSEType_SSE_C:
			return SSEC
		case filer_pb.SSEType_SSE_KMS:
			return SSEKMS
		default:
			return fmt.Sprintf("SSE type %d", c.GetSseType())
		}
	}
	return scheme
}

// Bucket returns the scheme a bucket's entry asks for, "" for none: the S3
// default encryption in its content, else what its table bucket record declares.
func Bucket(e *filer_pb.Entry) (string, error) {
	if len(e.GetContent()) > 0 {
		var record s3_pb.BucketMetadata
		if err := proto.Unmarshal(e.GetContent(), &record); err != nil {
			return "", fmt.Errorf("reading the S3 settings of bucket %s: %w", e.GetName(), err)
		}
		if record.GetEncryption() != nil {
			return name(record.GetEncryption().GetSseAlgorithm()), nil
		}
	}
	if !s3tables.IsTableBucketEntry(e) {
		return "", nil
	}
	stored := e.GetExtended()[s3tables.ExtendedKeyMetadata]
	if len(stored) == 0 {
		return "", nil
	}
	var record struct {
		Format     string         `json:"format"`
		Encryption map[string]any `json:"encryptionConfiguration"`
	}
	if err := json.Unmarshal(stored, &record); err != nil {
		return "", fmt.Errorf("reading the table bucket record of %s: %w", e.GetName(), err)
	}
	if !s3tables.IsCatalogOnlyFormat(record.Format) || len(record.Encryption) == 0 {
		// The gateway applies the record's word to such buckets alone.
		return "", nil
	}
	algorithm, ok := record.Encryption["sseAlgorithm"].(string)
	if !ok || algorithm == "" {
		return "", fmt.Errorf("reading the table bucket record of %s: encryptionConfiguration without sseAlgorithm", e.GetName())
	}
	return name(algorithm), nil
}

func name(algorithm string) string {
	switch algorithm {
	case s3_constants.SSEAlgorithmAES256:
		return SSES3
	case s3_constants.SSEAlgorithmKMS:
		return SSEKMS
	default:
		return algorithm
	}
}
