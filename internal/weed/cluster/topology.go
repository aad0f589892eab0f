package cluster

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
)

// common are the flags that keep a cluster small, quiet and to itself.
func (c *Cluster) common() []string {
	return []string{
		"-dir=" + c.opt.Dir,
		"-ip=" + Host,
		"-ip.bind=" + Host,
		fmt.Sprintf("-master.port=%d", c.master),
		"-master.telemetry=false",
		// Every bucket has volumes of its own, and every one grows by several.
		"-master.volumeSizeLimitMB=256",
		"-volume.max=200",
		fmt.Sprintf("-volume.port=%d", c.volume),
		fmt.Sprintf("-filer.port=%d", c.filer),
		fmt.Sprintf("-s3.port=%d", c.s3),
		fmt.Sprintf("-s3.port.lance=%d", c.lance),
		"-s3.port.iceberg=0",
	}
}

func (c *Cluster) startMini(ctx context.Context) (err error) {
	args := append([]string{"mini"}, c.common()...)
	args = append(args,
		fmt.Sprintf("-admin.port=%d", c.admin), fmt.Sprintf("-admin.port.grpc=%d", c.admin+grpcOffset),
		"-admin.port.legacy=0", "-webdav=false")
	if c.Main, err = c.startProcess("mini", append(args, c.opt.Flags...)); err != nil {
		return err
	}
	c.Main.throwaway = !c.opt.Graceful
	return c.waitForServers(ctx)
}

func (c *Cluster) startSeparate(ctx context.Context) error {
	identities, err := c.writeIdentities()
	if err != nil {
		return err
	}
	args := append([]string{"server"}, c.common()...)
	args = append(args, "-filer", "-s3", "-s3.config="+identities, "-volume.preStopSeconds=0")
	if c.Main, err = c.startProcess("server", append(args, c.opt.Flags...)); err != nil {
		return err
	}
	c.Main.throwaway = !c.opt.Graceful
	if err := c.waitForServers(ctx); err != nil {
		return err
	}
	if err := c.StartAdmin(ctx); err != nil {
		return err
	}
	for range c.opt.Workers {
		if _, err := c.StartWorker(ctx); err != nil {
			return err
		}
	}
	return nil
}

// StartAdmin starts the admin server, again after it was stopped.
func (c *Cluster) StartAdmin(ctx context.Context) (err error) {
	c.AdminProcess, err = c.startProcess("admin", []string{
		"admin", "-master=" + c.Master(), "-ip=" + Host,
		fmt.Sprintf("-port=%d", c.admin), fmt.Sprintf("-port.grpc=%d", c.admin+grpcOffset), "-port.legacy=0",
		"-iceberg.port=0", fmt.Sprintf("-lance.port=%d", c.lance),
		"-dataDir=" + filepath.Join(c.opt.Dir, "admin"),
	})
	if err != nil {
		return err
	}
	return c.wait(ctx, c.AdminProcess, "admin to answer", func(ctx context.Context) error {
		return expectOK(ctx, urlOf(c.admin)+"/health")
	})
}

// StartWorker starts one more worker and waits until admin has it.
func (c *Cluster) StartWorker(ctx context.Context, flags ...string) (*Worker, error) {
	port, err := c.ports.reserve()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("worker%d", len(c.Workers))
	args := []string{
		"worker", "-admin=" + c.AdminAddress(), "-id=" + name,
		"-workingDir=" + filepath.Join(c.opt.Dir, name), "-reconnect=1s",
		fmt.Sprintf("-metricsPort=%d", port), "-metricsIp=" + Host,
	}
	if c.opt.Jobs != "" {
		args = append(args, "-jobs="+c.opt.Jobs)
	}
	args = append(append(args, c.opt.WorkerFlags...), flags...)
	p, err := c.startProcess(name, args)
	if err != nil {
		return nil, err
	}
	w := &Worker{Process: p, MetricsPort: port}
	c.Workers = append(c.Workers, w)
	return w, c.wait(ctx, p, "worker to be ready", func(ctx context.Context) error {
		return expectOK(ctx, w.URL("/ready"))
	})
}

// waitForServers waits for the S3 gateway and the Lance namespace server,
// which come last and need all others.
func (c *Cluster) waitForServers(ctx context.Context) error {
	return c.wait(ctx, c.Main, "S3 and Lance namespace to answer", func(ctx context.Context) error {
		if _, err := c.Lance().Namespaces(ctx); err != nil {
			return err
		}
		_, err := c.S3().Do(ctx, http.MethodGet, "", nil, nil)
		return err
	})
}

func (c *Cluster) makeBuckets(ctx context.Context) error {
	for _, b := range c.opt.Buckets {
		// The first write may come before the first volume server's heartbeat.
		err := c.wait(ctx, c.Main, "bucket "+b, func(ctx context.Context) error {
			return c.Lance().CreateNamespace(ctx, b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) waitForJobs(ctx context.Context, jobs []string) error {
	return c.wait(ctx, c.Main, "admin to know the job types", func(ctx context.Context) error {
		if len(jobs) == 0 {
			return nil
		}
		known, err := c.Admin().JobTypes(ctx)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if !slices.Contains(known, j) {
				return fmt.Errorf("admin knows %v, not %s", known, j)
			}
		}
		return nil
	})
}
