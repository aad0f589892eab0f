package filerstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/sses3"
)

// What one search of a bucket may cost: enough for some ten tables, each of a
// handful of directories, and a fraction of a second.
const (
	proofListings = 64
	proofPage     = 100
)

// unproven is a search in vain, for as long as it is believed.
type unproven struct {
	keys *sses3.Keys
	// err is nil where the keys will do all the same.
	err   error
	until time.Time
}

// provenKeys returns the keys when it is known that the KEK is the one of the
// cluster's gateways, so that what is written under it can be read by others.
//
// A KEK of the security configuration of this process may be of another cluster,
// or of another time, and as long as nothing has to be decrypted nobody would
// notice: a table from before its bucket began to encrypt would be rewritten into
// what no other process can read. So there must be something that was encrypted
// under it. Mostly it is the table's own manifest, by which the job found what to
// do; else it is looked for in the bucket, whose gateway encrypts whatever is put
// there. A KEK from the filers is the gateways', too, unless all that is found is
// under another.
func (s *store) provenKeys(ctx context.Context) (*sses3.Keys, error) {
	keys, err := s.c.sses3Keys(ctx)
	if err != nil {
		return nil, err
	}
	if err := keys.Configured(); err != nil || keys.Proven() {
		return keys, err
	}
	k := &s.c.keys
	if err := k.lock(ctx); err != nil {
		return nil, err
	}
	defer k.unlock()
	now := s.c.cfg.Now()
	if known, ok := k.unproven[s.bucket]; ok && !keys.Proven() && known.keys == keys && now.Before(known.until) {
		if known.err != nil {
			return nil, known.err
		}
		return keys, nil
	}
	err = s.prove(ctx, keys)
	if keys.Proven() {
		k.unproven = nil
		return keys, nil
	}
	if err == nil || errors.Is(err, sses3.ErrKeys) {
		if k.unproven == nil {
			k.unproven = map[string]unproven{}
		}
		k.unproven[s.bucket] = unproven{keys: keys, err: err, until: now.Add(noKeysAge)}
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// prove looks for an object under the KEK, in the table and then in the rest of
// its bucket, and ends with the first. Beside one, objects under another KEK do
// not make it wrong: they may have been copied here from another cluster.
func (s *store) prove(ctx context.Context, keys *sses3.Keys) error {
	var other error
	open := []string{s.c.bucketsDir() + "/" + s.bucket, s.root}
	for n := 0; len(open) > 0 && n < proofListings && !keys.Proven(); n++ {
		dir := open[len(open)-1]
		open = open[:len(open)-1]
		if dir == s.root && n > 0 {
			continue
		}
		page, err := s.c.ListEntries(ctx, dir, "", proofPage)
		if err != nil {
			return fmt.Errorf("looking for an object that shows the key for SSE-S3: %w", err)
		}
		for _, e := range slices.Backward(page) {
			if e.GetIsDirectory() {
				open = append(open, dir+"/"+e.GetName())
			}
			if _, err := keys.Probe(e); err != nil && other == nil {
				other = fmt.Errorf("%s/%s: %w", dir, e.GetName(), err)
			}
		}
	}
	switch {
	case keys.Proven():
		return nil
	case other != nil:
		return other
	case keys.Likely():
		return nil
	default:
		return fmt.Errorf("%w: nothing in bucket %s is encrypted yet that would show that the key of this process is the S3 gateway's; the next object that is put there will", sses3.ErrKeys, s.bucket)
	}
}
