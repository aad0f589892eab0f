package sses3

import (
	"crypto/rand"
	"fmt"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
)

// Object encrypts one new object as the gateway does a PUT: one stream under
// one key from its first byte to its last, and with each chunk the counter that
// it begins at. So it can be read chunk by chunk, as the gateway does, and in
// one go, as weed's replication does.
type Object struct {
	keys   *Keys
	id     string
	stream stream
	// extended are the attributes of the entry.
	extended map[string][]byte
}

// NewObject makes a key for one object. It refuses a KEK that is not even likely
// to be the gateways'.
func (k *Keys) NewObject() (*Object, error) {
	if err := k.Configured(); err != nil {
		return nil, err
	}
	if !k.Likely() {
		return nil, fmt.Errorf("%w: nothing that is stored shows that the KEK of this process is the S3 gateway's", ErrKeys)
	}
	o := &Object{keys: k, id: newID()}
	rand.Read(o.stream.key[:])
	rand.Read(o.stream.iv[:])
	// The gateway counts in the last 64 bits alone where a chunk begins, and in
	// all 128 from there on. Half of the 64 are room enough for both to agree.
	o.stream.iv[8] &= 0x7f
	key, err := o.at(0)
	if err != nil {
		return nil, err
	}
	o.extended = map[string][]byte{
		s3_constants.AmzServerSideEncryption: []byte(algorithm),
		s3_constants.SeaweedFSSSES3Key:       key,
	}
	return o, nil
}

// Extended are the attributes that the object's entry has to carry.
func (o *Object) Extended() map[string][]byte { return o.extended }

// Encrypt encrypts the bytes of a chunk in place.
func (o *Object) Encrypt(data []byte, offset int64) error {
	if offset%ivSize != 0 {
		return fmt.Errorf("encrypting a chunk at byte %d: not where a block of the cipher begins", offset)
	}
	o.stream.xor(data, offset)
	return nil
}

// Mark notes on the chunk how it was encrypted.
func (o *Object) Mark(c *filer_pb.FileChunk) (err error) {
	c.SseType = filer_pb.SSEType_SSE_S3
	c.SseMetadata, err = o.at(c.GetOffset() / ivSize)
	return err
}

// at is the key as it is stored where the counter is n blocks on.
func (o *Object) at(n int64) ([]byte, error) {
	key, err := o.keys.wrap(o.id, &stream{key: o.stream.key, iv: o.stream.counter(n)})
	if err != nil {
		return nil, fmt.Errorf("wrapping the object's key: %w", err)
	}
	return key, nil
}
