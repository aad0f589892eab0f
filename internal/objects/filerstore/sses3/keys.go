package sses3

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
)

// Keys wraps and unwraps the keys of objects. It may be used by many
// goroutines at once.
type Keys struct {
	// kek is nil where none is configured.
	kek        []byte
	commitment bool
	// filed: the filers' File holds the KEK.
	filed bool
	// proven: a key was unwrapped with it.
	proven atomic.Bool
}

// Proven tells that the KEK is known to be the one of the cluster's gateways:
// a key has been unwrapped with it that somebody stored with an object.
func (k *Keys) Proven() bool { return k.proven.Load() }

// Likely tells that the KEK is the gateways' as long as nothing shows another:
// they take it from the filers' File, too. One from the configuration of this
// process alone may be mistaken, and what is written under it nobody else could
// read.
func (k *Keys) Likely() bool { return k.filed || k.Proven() }

// Inherit takes over what is known about the KEK if it was the same.
func (k *Keys) Inherit(from *Keys) {
	if from != nil && from.Proven() && k.kek != nil && bytes.Equal(k.kek, from.kek) {
		k.proven.Store(true)
	}
}

// Probe tries the KEK on an entry: found tells that it carries a key, the
// error that it is not under this KEK.
func (k *Keys) Probe(e *filer_pb.Entry) (found bool, err error) {
	key, found := objectKey(e)
	if !found {
		return false, nil
	}
	_, err = k.parse(key)
	return true, err
}

// objectKey is the key of an object under SSE-S3. Like the gateway: the
// algorithm alone is left behind by a copy that decrypted.
func objectKey(e *filer_pb.Entry) (key []byte, ok bool) {
	key, ok = e.GetExtended()[s3_constants.SeaweedFSSSES3Key]
	return key, ok && string(e.GetExtended()[s3_constants.AmzServerSideEncryption]) == algorithm
}

// Configured is nil, or says that there is no KEK.
func (k *Keys) Configured() error {
	if k.kek == nil {
		return fmt.Errorf("%w: none is configured; set %s or %s for this process as for the S3 gateway", ErrKeys, settingKEK, settingKey)
	}
	return nil
}

// algorithm is the only one.
const algorithm = s3_constants.SSEAlgorithmAES256

// stored is a key as it lies beside an object or chunk, its bytes in base64.
type stored struct {
	Algorithm *string `json:"algorithm"`
	ID        string  `json:"keyId"`
	// Wrapped is the key encrypted with AES-256-GCM under the KEK and Nonce.
	Wrapped []byte `json:"encryptedDEK"`
	Nonce   []byte `json:"nonce"`
	// IV is missing with objects that were uploaded in parts: each chunk has one.
	IV []byte `json:"iv,omitempty"`
	// Commitment is missing with what was written before there were any.
	Commitment []byte `json:"keyCommitment,omitempty"`
}

// parse unwraps a key as it is stored with an object or a chunk; nil when it
// has no IV and so begins no stream.
func (k *Keys) parse(data []byte) (*stream, error) {
	if err := k.Configured(); err != nil {
		return nil, err
	}
	var m stored
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%w: reading it: %w", ErrKeys, err)
	}
	s, err := k.unwrap(m)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrKeys, m.ID, err)
	}
	return s, nil
}

func (k *Keys) unwrap(m stored) (*stream, error) {
	if m.Algorithm != nil && *m.Algorithm != algorithm {
		return nil, fmt.Errorf("made for %q", *m.Algorithm)
	}
	key, err := open(k.kek, m.Nonce, m.Wrapped)
	if err != nil {
		return nil, fmt.Errorf("unwrapping it with the KEK of this process: %w", err)
	}
	// The cipher authenticates: only the KEK that wrapped it gets this far.
	k.proven.Store(true)
	if _, err := sized(key); err != nil {
		return nil, err
	}
	if m.IV == nil {
		return nil, nil
	}
	if len(m.IV) != ivSize {
		return nil, fmt.Errorf("an IV of %d bytes, want %d", len(m.IV), ivSize)
	}
	switch {
	case len(m.Commitment) > 0:
		if !hmac.Equal(m.Commitment, commit(key, m.IV)) {
			return nil, errors.New("its commitment is to another key or IV")
		}
	case k.commitment:
		return nil, fmt.Errorf("without a commitment, which %s demands", settingCommitment)
	}
	return &stream{key: [keySize]byte(key), iv: [ivSize]byte(m.IV)}, nil
}

// wrap is a stream's key as it is stored.
func (k *Keys) wrap(id string, s *stream) ([]byte, error) {
	nonce, wrapped, err := seal(k.kek, s.key[:])
	if err != nil {
		return nil, err
	}
	name := algorithm
	return json.Marshal(stored{
		Algorithm: &name, ID: id, Wrapped: wrapped, Nonce: nonce, IV: s.iv[:], Commitment: commit(s.key[:], s.iv[:]),
	})
}

// commit binds a key to its IV: the cipher alone would turn bytes into noise
// under any other without a word.
func commit(key, iv []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(iv)
	mac.Write([]byte(algorithm))
	return mac.Sum(nil)
}

// newID is in the form of the gateway, whose ids are random.
func newID() string {
	var id [8]byte
	rand.Read(id[:])
	return fmt.Sprintf("sse-s3-key-%d", int64(be(id[:])>>1))
}
