// Package cluster starts whole SeaweedFS clusters as child processes, on free
// ports of the loopback address and with all their data in one directory. The
// demonstration and the end-to-end tests use it; nothing else should.
//
// A child is the running program itself (or Options.Program), told by its
// arguments to be a weed. It sees neither this process's environment nor any
// configuration of the machine: what a cluster does depends on Options alone.
//
//	c, err := cluster.Start(ctx, cluster.Options{Dir: dir, Buckets: []string{"lab"}})
//	…
//	err = c.Lance().CreateTable(ctx, "lab", "ml", "vectors")
//	err = c.S3().Put(ctx, "lab/ml/vectors/data/x.lance", content)
//	run, err := c.Admin().Run(ctx, "lance_compact")
//	…
//	err = c.Stop()
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Host is where everything listens.
const Host = "127.0.0.1"

// Credentials of the S3 identity that every cluster has; it may do everything.
const (
	AccessKey = "lanceadmin"
	SecretKey = "lancesecret"
)

// grpcOffset is between a server's HTTP port and its gRPC port.
const grpcOffset = 10000

// startTimeout bounds a start on a busy machine; an idle one takes seconds.
const startTimeout = 2 * time.Minute

// startAttempts is how often other ports are tried when one was taken between
// looking and listening.
const startAttempts = 3

// Options of a cluster. The zero value but for Dir is a `weed mini`.
type Options struct {
	// Dir exists and is the cluster's own: data, configuration and logs.
	Dir string
	// Program is the weed to run; the running program when empty.
	Program string
	// Env is added to the small environment that children get, as KEY=value.
	Env []string
	// Security is the text of security.toml.
	Security string
	// Separate runs master, volume server, filer and S3 gateway in one process
	// (`weed server`), admin and each worker in others.
	Separate bool
	// Workers is how many `weed worker` to start; with Separate only.
	Workers int
	// Jobs of these workers, as -jobs takes them.
	Jobs string
	// Flags are further flags of mini or server, WorkerFlags of each worker.
	Flags, WorkerFlags []string
	// Buckets are the table buckets that exist when Start returns.
	Buckets []string
	// Graceful has Stop ask mini or server to end as an operator would, which
	// takes them up to a quarter of a minute. Otherwise they are killed: what they
	// would save is in Dir, whose time is over. Admin and workers are always asked.
	Graceful bool
	// WaitForJobs are job types that admin must know before Start returns.
	WaitForJobs []string
}

// Cluster is a running cluster. Its methods may be called from many goroutines.
type Cluster struct {
	opt   Options
	ports *ports
	// Main is `weed mini` or `weed server`.
	Main *Process
	// AdminProcess and Workers are nil in a mini.
	AdminProcess *Process
	Workers      []*Worker

	master, volume, filer, s3, lance, admin int
}

// Worker is one `weed worker`.
type Worker struct {
	*Process
	// MetricsPort serves /metrics, /health and /ready.
	MetricsPort int
}

// URL of a path that the worker's metrics port serves.
func (w *Worker) URL(path string) string { return urlOf(w.MetricsPort) + path }

// Start starts a cluster and returns when it can be used. With an error
// nothing is left running.
func Start(ctx context.Context, opt Options) (*Cluster, error) {
	if opt.Program == "" {
		program, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding the running program: %w", err)
		}
		opt.Program = program
	}
	for attempt := 1; ; attempt++ {
		c, err := start(ctx, opt)
		if err == nil || attempt == startAttempts || !errors.Is(err, errPortTaken) {
			return c, err
		}
	}
}

func start(ctx context.Context, opt Options) (_ *Cluster, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c := &Cluster{opt: opt, ports: new(ports)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	for _, p := range []*int{&c.master, &c.volume, &c.filer, &c.s3, &c.lance, &c.admin} {
		if *p, err = c.ports.reserve(); err != nil {
			return nil, err
		}
	}
	if err := c.configure(); err != nil {
		return nil, err
	}
	if opt.Separate {
		err = c.startSeparate(ctx)
	} else {
		err = c.startMini(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := c.makeBuckets(ctx); err != nil {
		return nil, err
	}
	return c, c.waitForJobs(ctx, opt.WaitForJobs)
}

// Stop ends all processes in the order in which they need each other, and
// waits for them. It may be called again.
func (c *Cluster) Stop() error {
	var errs []error
	for _, w := range c.Workers {
		errs = append(errs, w.Stop())
	}
	for _, p := range []*Process{c.AdminProcess, c.Main} {
		if p != nil {
			errs = append(errs, p.Stop())
		}
	}
	c.removeSockets()
	c.ports.release()
	return errors.Join(errs...)
}

// LogTails is the end of every process's log, for a failed test.
func (c *Cluster) LogTails() string {
	var b strings.Builder
	list := []*Process{c.Main, c.AdminProcess}
	for _, w := range c.Workers {
		list = append(list, w.Process)
	}
	for _, p := range list {
		if p != nil {
			fmt.Fprintf(&b, "--- %s\n%s\n", p.name, p.LogTail())
		}
	}
	return b.String()
}

// Filer is the filer's address as weed's flags take it; its gRPC port follows.
func (c *Cluster) Filer() string { return address(c.filer) }

// FilerGRPC is the address of the filer's gRPC service.
func (c *Cluster) FilerGRPC() string { return address(c.filer + grpcOffset) }

// Master is the master's address as weed's flags take it.
func (c *Cluster) Master() string { return address(c.master) }

// AdminAddress is the admin server's address as weed's flags take it.
func (c *Cluster) AdminAddress() string { return address(c.admin) }

// ConfigDir is what -config_dir has to be for a weed command that belongs to
// the cluster.
func (c *Cluster) ConfigDir() string { return filepath.Join(c.opt.Dir, "etc") }

// Admin is a client of the admin server's API.
func (c *Cluster) Admin() *Admin { return &Admin{base: urlOf(c.admin)} }

// Lance is a client of the Lance namespace server.
func (c *Cluster) Lance() *Lance { return &Lance{base: urlOf(c.lance)} }

// S3 is a client of the S3 gateway.
func (c *Cluster) S3() *S3 { return &S3{Endpoint: urlOf(c.s3)} }

func address(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }

func urlOf(port int) string { return "http://" + address(port) }
