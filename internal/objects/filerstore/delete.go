package filerstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// Delete implements objects.Store. A directory is refused, be it empty or an
// object besides: a filer would remove an empty one, while somebody is about
// to create an object in it.
func (s *store) Delete(ctx context.Context, name string) error {
	dir, base, err := s.place(name)
	if err != nil {
		return err
	}
	e, err := s.c.LookupEntry(ctx, dir, base)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		// This filer may lag behind; what is asked to delete decides.
	case err != nil:
		return fmt.Errorf("deleting %s: %w", name, err)
	case e.GetIsDirectory():
		return fmt.Errorf("deleting %s: a directory", name)
	}
	if err := s.c.remove(ctx, dir, base); err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	return nil
}

// remove deletes an entry and its chunks. To delete again what may have been
// deleted does no harm, so any filer may be asked until one answers.
func (c *Cluster) remove(ctx context.Context, dir, base string) error {
	var failure error
	pending := false
	err := c.each(ctx, func(f *endpoint) bool {
		var resp *filer_pb.DeleteEntryResponse
		err := c.call(ctx, f, c.cfg.CallTimeout, func(ctx context.Context, client filer_pb.SeaweedFilerClient) (err error) {
			resp, err = client.DeleteEntry(ctx, &filer_pb.DeleteEntryRequest{Directory: dir, Name: base, IsDeleteData: true})
			return err
		})
		failure = denied(err)
		switch classify(err) {
		case undone:
			return false
		case silent, vague:
			pending = true
			return false
		}
		if status.Code(err) == codes.NotFound {
			failure = nil
		}
		if err != nil {
			return true
		}
		switch text := resp.GetError(); {
		case text == "", strings.Contains(text, filer_pb.ErrNotFound.Error()):
			failure = nil
			return true
		default:
			failure = filer.DeleteEntryError(text)
			if errors.Is(failure, filer.ErrNonEmptyFolder) {
				return true
			}
			// Some of it may have happened before the filer failed.
			pending = true
			return false
		}
	})
	switch {
	case err == nil && failure == nil:
		return nil
	case failure == nil:
		failure = err
	case err != nil:
		failure = fmt.Errorf("%w: %w", err, failure)
	}
	if pending {
		return fmt.Errorf("%w: %w", objects.ErrUnknown, failure)
	}
	return failure
}
