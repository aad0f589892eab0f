package filerstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

const (
	// keysAge is how long a key is believed to be the cluster's. It is changed
	// together with the configuration of the filers and gateways, if ever.
	keysAge = settingsAge
	// noKeysAge is how long it is believed that there is none, or none that can
	// be used: a sweep over many tables asks once, and an operator who has set
	// one does not wait.
	noKeysAge = guardAge
)

// keyring remembers the key of the cluster under which the keys of encrypted
// objects are stored.
type keyring struct {
	// loading is held by whoever is asking for it.
	loading chan struct{}

	mu    sync.Mutex
	known *sses3.Keys
	err   error
	until time.Time

	// unproven are the buckets that were searched for a proof in vain. It belongs
	// to whoever holds loading.
	unproven map[string]unproven
}

// CheckKeys is nil when a table in a directory of a bucket under SSE-S3 can be written as far as
// the key of this process goes, which must also be known to be the gateway's; ErrKeys when not.
func (c *Cluster) CheckKeys(ctx context.Context, dir string) error {
	s := c.Table(dir).(*store)
	_, err := s.provenKeys(ctx)
	return err
}

// sses3Keys returns the keys as they are configured, here or on the filers.
func (c *Cluster) sses3Keys(ctx context.Context) (*sses3.Keys, error) {
	k := &c.keys
	if keys, err, ok := k.get(c.cfg.Now()); ok {
		return keys, err
	}
	if err := k.lock(ctx); err != nil {
		return nil, err
	}
	defer k.unlock()
	if keys, err, ok := k.get(c.cfg.Now()); ok {
		return keys, err
	}
	var f sses3.File
	e, err := c.LookupEntry(ctx, sses3.FileDir, sses3.FileName)
	switch {
	case errors.Is(err, objects.ErrNotFound):
	case err != nil:
		return nil, fmt.Errorf("loading the key for SSE-S3: %w", err)
	default:
		f = sses3.File{Exists: true, Content: e.GetContent()}
	}
	keys, err := sses3.Load(f)
	return k.put(keys, err, c.cfg.Now())
}

func (k *keyring) lock(ctx context.Context) error {
	select {
	case k.loading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *keyring) unlock() { <-k.loading }

func (k *keyring) get(now time.Time) (*sses3.Keys, error, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known, k.err, now.Before(k.until)
}

func (k *keyring) put(keys *sses3.Keys, err error, now time.Time) (*sses3.Keys, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	age := keysAge
	if err != nil || keys.Configured() != nil {
		age = noKeysAge
	}
	if keys != nil {
		// After an error, too, what was known about it before still holds.
		keys.Inherit(k.known)
		k.known = keys
	}
	k.err, k.until = err, now.Add(age)
	return keys, err
}
