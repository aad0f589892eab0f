package filerstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
)

const (
	// settingsAge is how long the cluster's configuration is believed. It
	// changes when filers are restarted; this process may outlive that.
	settingsAge = 5 * time.Minute
	// defaultChunk is what filers cut files into when they are not told.
	defaultChunk = 4 << 20
	// maxChunk keeps a strange configuration from sizing our buffers.
	maxChunk = 256 << 20
)

// configuration is what a filer says about writing to its cluster.
type configuration struct {
	buckets string
	cipher  bool
	chunk   int
	group   string
}

type settings struct {
	mu struct {
		sync.Mutex
		known configuration
		at    time.Time
	}
}

// configuration returns the cluster's configuration, not older than settingsAge.
func (c *Cluster) configuration(ctx context.Context) (configuration, error) {
	now := c.cfg.Now()
	c.settings.mu.Lock()
	known, at := c.settings.mu.known, c.settings.mu.at
	c.settings.mu.Unlock()
	if !at.IsZero() && now.Sub(at) < settingsAge {
		return known, nil
	}
	var resp *filer_pb.GetFilerConfigurationResponse
	err := c.Do(ctx, func(ctx context.Context, client filer_pb.SeaweedFilerClient) (err error) {
		resp, err = client.GetFilerConfiguration(ctx, &filer_pb.GetFilerConfigurationRequest{})
		return err
	})
	if err != nil {
		return configuration{}, fmt.Errorf("reading the filer configuration: %w", err)
	}
	conf := configuration{
		buckets: strings.TrimSuffix(resp.GetDirBuckets(), "/"),
		cipher:  resp.GetCipher(),
		group:   resp.GetFilerGroup(),
		chunk:   defaultChunk,
	}
	if conf.buckets == "" {
		conf.buckets = s3_constants.DefaultBucketsPath
	}
	if mb := int64(resp.GetMaxMb()); mb > 0 {
		conf.chunk = int(min(mb<<20, maxChunk))
	}
	c.settings.mu.Lock()
	c.settings.mu.known, c.settings.mu.at = conf, now
	c.settings.mu.Unlock()
	return conf, nil
}

func (c *Cluster) bucketsDir() string {
	c.settings.mu.Lock()
	defer c.settings.mu.Unlock()
	return c.settings.mu.known.buckets
}

// observe takes the filers' clock from the stamp that they put on answers.
func (c *Cluster) observe(stamp int64) {
	if stamp > 0 {
		c.skew.Store(stamp - c.cfg.Now().UnixNano())
	}
}

// now is the time by the filers' clock: what is written must not look old to
// others because this machine's clock is slow. Whole seconds, as the gateway
// keeps them.
func (c *Cluster) now() time.Time {
	return c.cfg.Now().Add(time.Duration(c.skew.Load())).Truncate(time.Second)
}
