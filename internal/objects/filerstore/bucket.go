package filerstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/encryption"
)

// guardAge is how long a bucket that did not encrypt is believed not to: long
// enough to cost nothing beside the writes, short enough that a job notices
// the operator's change in the middle.
const guardAge = 30 * time.Second

// guards remembers which buckets may be written into, and until when.
type guards struct {
	mu    sync.Mutex
	until map[string]time.Time
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

// mayWrite refuses a table whose bucket encrypts what is written into it.
func (s *store) mayWrite(ctx context.Context) error {
	if s.bucket == "" {
		return nil
	}
	g, now := &s.c.guards, s.c.cfg.Now()
	g.mu.Lock()
	known := now.Before(g.until[s.bucket])
	g.mu.Unlock()
	if known {
		return nil
	}
	scheme, err := s.c.BucketEncryption(ctx, s.bucket)
	if err != nil {
		return err
	}
	if scheme != "" {
		return fmt.Errorf("bucket %s: %w with %s", s.bucket, ErrEncrypted, scheme)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until == nil {
		g.until = map[string]time.Time{}
	}
	for bucket, until := range g.until {
		if !now.Before(until) {
			delete(g.until, bucket)
		}
	}
	g.until[s.bucket] = now.Add(guardAge)
	return nil
}
