// Package demo is `weed lance demo`: a whole cluster on this machine, in which a
// table of many small fragments is proposed by admin, compacted and cleaned by
// the worker, and shown before and after.
//
// The cluster is a `weed mini` of the very program that runs the demo, in a
// process of its own; see the package internal/weed/cluster. Nothing of the
// machine's own configuration takes part, nothing listens beyond the loopback
// address, and nothing is left behind.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/seaweedfs/seaweed-lance/internal/location"
	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// The job types, as admin knows them.
const (
	compactJob = "lance_compact"
	cleanupJob = "lance_cleanup_versions"
)

// Where the table goes.
const (
	bucket    = "lab"
	namespace = "ml"
	name      = "vectors"
)

// Demo is what the demonstration works with.
type Demo struct {
	// Table is the table to show, as real Lance wrote it.
	Table fs.FS
	// Open returns where a table of the cluster with that filer is, and what
	// ends the connection.
	Open func(ctx context.Context, filers []string, name string) (location.Location, func(), error)
	// Program is the weed to start; the running program when empty. Env is added
	// to its environment.
	Program string
	Env     []string
}

// Run shows everything on stdout. With stay it waits in the end, with the
// admin page open, until ctx is over.
func (d Demo) Run(ctx context.Context, stdout, stderr io.Writer, stay bool) (err error) {
	dir, err := os.MkdirTemp("", "lance-demo-")
	if err != nil {
		return fmt.Errorf("making a directory for the cluster: %w", err)
	}
	defer func() {
		if e := os.RemoveAll(dir); e != nil {
			err = errors.Join(err, fmt.Errorf("removing the cluster's directory: %w", e))
		}
	}()
	out := &printer{w: stdout}
	out.line("Starting a SeaweedFS cluster in one process (weed mini) …")
	c, err := cluster.Start(ctx, cluster.Options{
		Dir: dir, Program: d.Program, Env: d.Env,
		Buckets: []string{bucket}, WaitForJobs: []string{compactJob, cleanupJob},
	})
	if err != nil {
		return orInterrupted(ctx, fmt.Errorf("starting the cluster: %w", err))
	}
	defer func() {
		if e := c.Stop(); e != nil {
			err = errors.Join(err, fmt.Errorf("stopping the cluster: %w", e))
		}
	}()
	out.line("  admin %s   S3 %s", c.Admin().URL(), c.S3().Endpoint)
	s := &session{Demo: d, cluster: c, out: out}
	if err := s.show(ctx); err != nil {
		if ctx.Err() == nil {
			fmt.Fprintln(stderr, c.LogTails())
		}
		return orInterrupted(ctx, err)
	}
	if !stay {
		return out.err
	}
	out.line("\nThe jobs' page is open at %s until Ctrl-C.", c.Admin().URL())
	select {
	case <-ctx.Done():
		out.line("\nStopping the cluster …")
		return out.err
	case <-c.Main.Done():
		return errors.New("the cluster ended by itself")
	}
}

// orInterrupted is err, or only that the demo was interrupted: what it was at
// does not matter then.
func orInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// session is one run on a running cluster.
type session struct {
	Demo
	cluster *cluster.Cluster
	out     *printer
}

func (s *session) show(ctx context.Context) error {
	if err := s.fill(ctx); err != nil {
		return err
	}
	table := path.Join(bucket, namespace, name)
	at, done, err := s.Open(ctx, []string{s.cluster.Filer()}, table)
	if err != nil {
		return fmt.Errorf("finding %s: %w", table, err)
	}
	defer done()
	place, err := location.Open(ctx, at)
	if err != nil {
		return fmt.Errorf("opening %s: %w", table, err)
	}
	store := place.Store
	before, err := measure(ctx, store)
	if err != nil {
		return err
	}
	if err := s.job(ctx, compactJob); err != nil {
		return err
	}
	// The table is as old as this build's test data; nothing of it is to be kept
	// for its age or its number.
	if err := s.cluster.Admin().Configure(ctx, cleanupJob, map[string]int64{"retain_hours": 0, "min_versions_to_keep": 1}); err != nil {
		return fmt.Errorf("configuring %s: %w", cleanupJob, err)
	}
	if err := s.job(ctx, cleanupJob); err != nil {
		return err
	}
	after, err := measure(ctx, store)
	if err != nil {
		return err
	}
	s.out.compare(before, after)
	if after.rows != before.rows {
		return fmt.Errorf("the table had %d rows and has %d", before.rows, after.rows)
	}
	return s.out.err
}

// fill declares the table and puts its files there, as a writer would.
func (s *session) fill(ctx context.Context) error {
	location, err := s.cluster.Lance().CreateTable(ctx, bucket, namespace, name)
	if err != nil {
		return fmt.Errorf("declaring the table: %w", err)
	}
	files := 0
	err = fs.WalkDir(s.Table, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(s.Table, file)
		if err != nil {
			return err
		}
		files++
		return s.cluster.S3().Put(ctx, path.Join(strings.TrimPrefix(location, "s3://"), file), content)
	})
	if err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	s.out.line("\nPut %d files of a table that Lance wrote to %s, through the S3 gateway.", files, location)
	return nil
}

// job has admin propose a job and the worker do it.
func (s *session) job(ctx context.Context, jobType string) error {
	admin := s.cluster.Admin()
	found, err := admin.Detect(ctx, jobType, 0)
	if err != nil {
		return fmt.Errorf("detecting %s: %w", jobType, err)
	}
	if len(found.Proposals) == 0 {
		return fmt.Errorf("detecting %s: nothing was proposed", jobType)
	}
	s.out.line("\n%s", jobType)
	for _, p := range found.Proposals {
		s.out.line("  proposed: %s\n            %s", p.Summary, p.Detail)
	}
	run, err := admin.Run(ctx, jobType)
	if err != nil {
		return fmt.Errorf("running %s: %w", jobType, err)
	}
	jobs, err := admin.Jobs(ctx, jobType)
	if err != nil {
		return fmt.Errorf("looking at the jobs of %s: %w", jobType, err)
	}
	for _, j := range jobs {
		if j.Error != "" {
			return fmt.Errorf("running %s: %s", jobType, j.Error)
		}
		if j.Result != "" {
			s.out.line("  done:     %s", j.Result)
		}
	}
	if run.Succeeded == 0 {
		return fmt.Errorf("running %s: no job succeeded: %+v", jobType, *run)
	}
	return nil
}
