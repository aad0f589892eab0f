package filerstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// maxPage bounds one page whatever the caller asks for; the filer's field is
// 32 bits wide and some stores add one to it.
const maxPage = 1 << 20

// looksAtOnce bounds what one listing asks about its entries at a time.
const looksAtOnce = 8

// ListEntries returns the entries of one directory whose names are >= from, in
// byte order, at most limit of them; fewer mean that there are no more. Chunks
// are left out, sizes are not. A directory that does not exist is empty.
func (c *Cluster) ListEntries(ctx context.Context, dir, from string, limit int) ([]*filer_pb.Entry, error) {
	return c.listEntries(ctx, dir, from, limit, false)
}

// listEntries is ListEntries with or without the chunks.
func (c *Cluster) listEntries(ctx context.Context, dir, from string, limit int, chunks bool) ([]*filer_pb.Entry, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("listing %s: limit %d", dir, limit)
	}
	var page []*filer_pb.Entry
	for len(page) < limit {
		want := min(limit-len(page), maxPage)
		part, err := c.listOnce(ctx, dir, from, want, chunks)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", dir, err)
		}
		page = append(page, part...)
		if len(part) < want {
			break
		}
		from = part[len(part)-1].GetName() + "\x00"
	}
	return page, nil
}

func (c *Cluster) listOnce(ctx context.Context, dir, from string, limit int, chunks bool) (page []*filer_pb.Entry, err error) {
	// Names from x+NUL on are those after x, and a database can't be asked
	// about a NUL.
	start, after := strings.CutSuffix(from, "\x00")
	err = c.Do(ctx, func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
		page = nil
		stream, err := client.ListEntries(ctx, &filer_pb.ListEntriesRequest{
			Directory:          dir,
			StartFromFileName:  start,
			InclusiveStartFrom: !after,
			Limit:              uint32(limit),
			OmitChunks:         !chunks,
		})
		for err == nil {
			var resp *filer_pb.ListEntriesResponse
			if resp, err = stream.Recv(); err != nil {
				break
			}
			if e := resp.GetEntry(); e != nil {
				page = append(page, e)
			}
		}
		if err == io.EOF || status.Code(err) == codes.NotFound {
			return checkOrder(page, from, limit)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// checkOrder refuses a page that a caller would page on from wrongly: some
// databases can be set up to sort names by a language's rules.
func checkOrder(page []*filer_pb.Entry, from string, limit int) error {
	if len(page) > limit {
		return fmt.Errorf("%d entries, more than the %d asked for", len(page), limit)
	}
	last := from
	for i, e := range page {
		if name := e.GetName(); name < last || i > 0 && name == last {
			return fmt.Errorf("%q after %q: the filer's store does not list in byte order", name, last)
		}
		last = e.GetName()
	}
	return nil
}

// List implements objects.Store. A directory below which there is no object is
// left out: a filer keeps it until its cleaner comes along.
func (s *store) List(ctx context.Context, dir, from string, limit int) ([]objects.Entry, error) {
	page, err := s.list(ctx, dir, from, limit, false)
	if err != nil {
		return nil, err
	}
	out := make([]objects.Entry, len(page))
	for i, f := range page {
		out[i] = f.Entry
	}
	return out, nil
}

// found is an entry of a listing, by our notion and by the filer's.
type found struct {
	objects.Entry
	filer *filer_pb.Entry
}

// list lists a directory, with the chunks of its objects or without.
func (s *store) list(ctx context.Context, dir, from string, limit int, chunks bool) ([]found, error) {
	full, err := s.directory(dir)
	if err != nil {
		return nil, err
	}
	var out []found
	for {
		want := limit - len(out)
		page, err := s.c.listEntries(ctx, full, from, want, chunks)
		if err != nil {
			return nil, err
		}
		entries, err := s.present(ctx, full, page, chunks)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", full, err)
		}
		out = append(out, entries...)
		if len(page) < want || len(out) == limit {
			return out, nil
		}
		from = page[len(page)-1].GetName() + "\x00"
	}
}

// directory is where a directory of the table is on the filer.
func (s *store) directory(dir string) (string, error) {
	if dir == "" {
		return s.root, nil
	}
	if err := objects.CheckName(dir); err != nil {
		return "", err
	}
	return s.root + "/" + dir, nil
}

// present describes the entries of a page that are there by our notion.
func (s *store) present(ctx context.Context, dir string, page []*filer_pb.Entry, chunks bool) ([]found, error) {
	seen := make([]*objects.Entry, len(page))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(looksAtOnce)
	for i, e := range page {
		if isObject(e) {
			entry, told, err := describeListed(e, chunks)
			if err != nil {
				return nil, errors.Join(err, g.Wait())
			}
			seen[i] = &entry
			if told {
				continue
			}
		}
		g.Go(func() (err error) {
			seen[i], err = s.look(gctx, dir, e, seen[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]found, 0, len(page))
	for i, e := range seen {
		if e != nil {
			out = append(out, found{*e, page[i]})
		}
	}
	return out, nil
}

// describeListed describes an object of a listing. Where its token can only be
// told from its chunks, which what this module and the gateway write never
// needs, and they were left out, told is false.
func describeListed(e *filer_pb.Entry, chunks bool) (entry objects.Entry, told bool, err error) {
	entry, err = describe(e.GetName(), e)
	entry.Token, told = token(e, chunks)
	return entry, told, err
}

// look asks about one entry of a listing what the listing did not say.
func (s *store) look(ctx context.Context, dir string, e *filer_pb.Entry, known *objects.Entry) (*objects.Entry, error) {
	if known == nil {
		occupied, err := s.c.occupied(ctx, dir+"/"+e.GetName())
		if err != nil || !occupied {
			return nil, err
		}
		return &objects.Entry{Name: e.GetName(), Dir: true}, nil
	}
	full, err := s.c.LookupEntry(ctx, dir, e.GetName())
	switch {
	case errors.Is(err, objects.ErrNotFound):
		// It has gone since; the page was right when it was made.
		return known, nil
	case err != nil || !isObject(full):
		return known, err
	}
	entry, err := describe(e.GetName(), full)
	return &entry, err
}

// occupied tells whether there is an object somewhere below a directory.
func (c *Cluster) occupied(ctx context.Context, dir string) (bool, error) {
	const few = 16 // the first entry tells, unless it is a directory itself
	for from := ""; ; {
		page, err := c.ListEntries(ctx, dir, from, few)
		if err != nil {
			return false, err
		}
		for _, e := range page {
			if isObject(e) {
				return true, nil
			}
		}
		for _, e := range page {
			if below, err := c.occupied(ctx, dir+"/"+e.GetName()); err != nil || below {
				return below, err
			}
		}
		if len(page) < few {
			return false, nil
		}
		from = page[len(page)-1].GetName() + "\x00"
	}
}
