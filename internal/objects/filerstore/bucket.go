package filerstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/encryption"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

// guardAge is how long a bucket is believed to encrypt or not as it did: long
// enough to cost nothing beside the writes, short enough that a job notices
// the operator's change in the middle.
const guardAge = 30 * time.Second

// guards remembers which buckets may be written into, how, and until when.
type guards struct {
	mu sync.Mutex
	at map[string]guard
}

type guard struct {
	sses3 bool
	until time.Time
}

// BucketEncryption returns the scheme that a bucket applies to what is written
// into it, "" for none. It looks the bucket up each time. A record that can't
// be read is an error; so is a bucket that does not exist (objects.ErrNotFound).
func (c *Cluster) BucketEncryption(ctx context.Context, bucket string) (scheme string, err error) {
	e, err := c.LookupEntry(ctx, c.bucketsDir(), bucket)
	if err != nil {
		return "", err
	}
	return encryption.Bucket(e)
}

// seal is the encryption of one new object of the table, nil where its bucket
// does not encrypt. It refuses what can't be written as the bucket asks
// (objects.ErrDenied besides the reason).
func (s *store) seal(ctx context.Context) (*sses3.Object, error) {
	encrypts, err := s.encrypts(ctx)
	if err != nil || !encrypts {
		return nil, err
	}
	keys, err := s.provenKeys(ctx)
	var o *sses3.Object
	if err == nil {
		o, err = keys.NewObject()
	}
	switch {
	case errors.Is(err, ErrKeys):
		return nil, fmt.Errorf("bucket %s encrypts with %s: %w: %w", s.bucket, encryption.SSES3, objects.ErrDenied, err)
	case err != nil:
		return nil, fmt.Errorf("bucket %s encrypts with %s: %w", s.bucket, encryption.SSES3, err)
	}
	return o, nil
}

// encrypts tells whether what is written is to be encrypted with SSE-S3.
func (s *store) encrypts(ctx context.Context) (bool, error) {
	if s.bucket == "" {
		return false, nil
	}
	g, now := &s.c.guards, s.c.cfg.Now()
	g.mu.Lock()
	known, ok := g.at[s.bucket]
	g.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.sses3, nil
	}
	scheme, err := s.c.BucketEncryption(ctx, s.bucket)
	if err != nil {
		return false, err
	}
	if scheme != "" && scheme != encryption.SSES3 {
		return false, fmt.Errorf("bucket %s: %w with %s: %w", s.bucket, ErrEncrypted, scheme, objects.ErrDenied)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at == nil {
		g.at = map[string]guard{}
	}
	for bucket, known := range g.at {
		if !now.Before(known.until) {
			delete(g.at, bucket)
		}
	}
	g.at[s.bucket] = guard{sses3: scheme != "", until: now.Add(guardAge)}
	return scheme != "", nil
}
