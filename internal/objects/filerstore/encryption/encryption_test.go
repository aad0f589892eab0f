package encryption

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/s3_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"
)

func TestObject(t *testing.T) {
	attrs := func(kv ...string) *filer_pb.Entry {
		e := &filer_pb.Entry{Extended: map[string][]byte{}}
		for i := 0; i < len(kv); i += 2 {
			e.Extended[kv[i]] = []byte(kv[i+1])
		}
		return e
	}
	mixed := &filer_pb.Entry{Chunks: []*filer_pb.FileChunk{{SseType: filer_pb.SSEType_SSE_S3}, {SseType: filer_pb.SSEType_SSE_KMS}}}
	chunk := func(t filer_pb.SSEType) *filer_pb.Entry {
		return &filer_pb.Entry{Chunks: []*filer_pb.FileChunk{{}, {SseType: t}}}
	}
	for name, c := range map[string]struct {
		entry *filer_pb.Entry
		want  string
	}{
		"plain":                    {attrs(), ""},
		"no attributes at all":     {&filer_pb.Entry{}, ""},
		"AES256 with key":          {attrs(s3_constants.AmzServerSideEncryption, "AES256", s3_constants.SeaweedFSSSES3Key, "k"), SSES3},
		"AES256 without key":       {attrs(s3_constants.AmzServerSideEncryption, "AES256"), ""},
		"KMS":                      {attrs(s3_constants.AmzServerSideEncryption, "aws:kms"), SSEKMS},
		"an algorithm of tomorrow": {attrs(s3_constants.AmzServerSideEncryption, "aws:kms:dsse"), "aws:kms:dsse"},
		"SSE-C algorithm":          {attrs(s3_constants.AmzServerSideEncryptionCustomerAlgorithm, "AES256"), SSEC},
		"SSE-C key digest":         {attrs(s3_constants.AmzServerSideEncryptionCustomerKeyMD5, "x"), SSEC},
		"chunk S3":                 {chunk(filer_pb.SSEType_SSE_S3), SSES3},
		"chunk C":                  {chunk(filer_pb.SSEType_SSE_C), SSEC},
		"chunk KMS":                {chunk(filer_pb.SSEType_SSE_KMS), SSEKMS},
		"chunk of tomorrow":        {chunk(filer_pb.SSEType(9)), "SSE type 9"},
		"chunks S3 and KMS":        {mixed, SSEKMS},
		"key without AES256":       {attrs(s3_constants.SeaweedFSSSES3Key, "k"), ""},
		"chunk none":               {chunk(filer_pb.SSEType_NONE), ""},
	} {
		if got := Object(c.entry); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBucket(t *testing.T) {
	record := func(json string) *filer_pb.Entry {
		return &filer_pb.Entry{Name: "lab", Extended: map[string][]byte{
			s3tables.ExtendedKeyTableBucket: []byte("true"),
			s3tables.ExtendedKeyMetadata:    []byte(json),
		}}
	}
	content := func(e *filer_pb.Entry, m *s3_pb.BucketMetadata) *filer_pb.Entry {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		e.Content = b
		return e
	}
	s3 := func(algorithm string) *s3_pb.BucketMetadata {
		return &s3_pb.BucketMetadata{Encryption: &s3_pb.EncryptionConfiguration{SseAlgorithm: algorithm}}
	}
	for name, c := range map[string]struct {
		entry *filer_pb.Entry
		want  string
		fails bool
	}{
		"ordinary bucket":               {&filer_pb.Entry{Name: "b"}, "", false},
		"ordinary, S3 default":          {content(&filer_pb.Entry{Name: "b"}, s3("AES256")), SSES3, false},
		"ordinary, KMS default":         {content(&filer_pb.Entry{Name: "b"}, s3("aws:kms")), SSEKMS, false},
		"content with tags only":        {content(&filer_pb.Entry{Name: "b"}, &s3_pb.BucketMetadata{Tags: map[string]string{"a": "b"}}), "", false},
		"unreadable content":            {&filer_pb.Entry{Name: "b", Content: []byte{0xff, 0xff}}, "", true},
		"lance, none":                   {record(`{"format":"LANCE"}`), "", false},
		"lance, empty configuration":    {record(`{"format":"LANCE","encryptionConfiguration":{}}`), "", false},
		"lance, declared":               {record(`{"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":"AES256"}}`), SSES3, false},
		"lance, declared of tomorrow":   {record(`{"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":"x"}}`), "x", false},
		"lance, declared without name":  {record(`{"format":"LANCE","encryptionConfiguration":{"kmsKeyArn":"x"}}`), "", true},
		"lance, S3 default wins":        {content(record(`{"format":"LANCE","encryptionConfiguration":{"sseAlgorithm":"AES256"}}`), s3("aws:kms")), SSEKMS, false},
		"iceberg, declared":             {record(`{"format":"ICEBERG","encryptionConfiguration":{"sseAlgorithm":"AES256"}}`), "", false},
		"bad JSON is not no encryption": {record(`{"format":"LANCE"`), "", true},
		"table bucket without record":   {&filer_pb.Entry{Extended: map[string][]byte{s3tables.ExtendedKeyTableBucket: []byte("true")}}, "", false},
	} {
		got, err := Bucket(c.entry)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %q, %v; want %q, failure %v", name, got, err, c.want, c.fails)
		}
	}
}
