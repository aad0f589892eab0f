package filerstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/filer"
	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

// step decides one call: it may have the call applied, and says what the
// client gets.
type step func(ctx context.Context, apply func() error) error

var errLost = status.Error(codes.Unavailable, "the answer was lost")

// The ways a call can go.
var (
	lost    step = func(_ context.Context, apply func() error) error { apply(); return errLost }
	dropped step = func(context.Context, func() error) error { return errLost }
	stalled step = func(ctx context.Context, _ func() error) error { <-ctx.Done(); return ctx.Err() }
	hung    step = func(ctx context.Context, apply func() error) error { apply(); <-ctx.Done(); return ctx.Err() }
	works   step = func(_ context.Context, apply func() error) error { return apply() }
)

func answers(code codes.Code, text string) step {
	return func(context.Context, func() error) error { return status.Error(code, text) }
}

type fakeFiler struct {
	filer_pb.UnimplementedSeaweedFilerServer
	cl   *fakeCluster
	addr pb.ServerAddress
	// own, when set, is this filer's lagging view for lookups.
	own map[string]*filer_pb.Entry

	mu     sync.Mutex
	script map[string][]step
	calls  map[string]int
}

// plan scripts the next calls of a method at one filer; after them all work.
func (f *fakeFiler) plan(method string, steps ...step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script[method] = append(f.script[method], steps...)
}

func (f *fakeFiler) called(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *fakeFiler) act(ctx context.Context, method string, apply func() error) error {
	f.mu.Lock()
	f.calls[method]++
	do := works
	if steps := f.script[method]; len(steps) > 0 {
		do, f.script[method] = steps[0], steps[1:]
	}
	f.mu.Unlock()
	return do(ctx, apply)
}

func (f *fakeFiler) GetFilerConfiguration(ctx context.Context, _ *filer_pb.GetFilerConfigurationRequest) (resp *filer_pb.GetFilerConfigurationResponse, err error) {
	err = f.act(ctx, "GetFilerConfiguration", func() error { resp = f.cl.conf; return nil })
	return resp, err
}

func (f *fakeFiler) LookupDirectoryEntry(ctx context.Context, req *filer_pb.LookupDirectoryEntryRequest) (resp *filer_pb.LookupDirectoryEntryResponse, err error) {
	err = f.act(ctx, "LookupDirectoryEntry", func() error {
		f.cl.mu.Lock()
		defer f.cl.mu.Unlock()
		from := f.cl.entries
		if f.own != nil {
			from = f.own
		}
		e := from[path.Join(req.Directory, req.Name)]
		if e == nil {
			return filer_pb.ErrNotFound
		}
		resp = &filer_pb.LookupDirectoryEntryResponse{Entry: proto.Clone(e).(*filer_pb.Entry), LogTsNs: time.Now().UnixNano()}
		return nil
	})
	return resp, err
}

func (f *fakeFiler) ListEntries(req *filer_pb.ListEntriesRequest, stream grpc.ServerStreamingServer[filer_pb.ListEntriesResponse]) error {
	return f.act(stream.Context(), "ListEntries", func() error {
		f.cl.mu.Lock()
		var page []*filer_pb.Entry
		for _, name := range slices.Sorted(maps.Keys(f.cl.entries)) {
			e := f.cl.entries[name]
			if path.Dir(name) == req.Directory && name != "/" &&
				(e.Name > req.StartFromFileName || req.InclusiveStartFrom && e.Name == req.StartFromFileName) {
				page = append(page, proto.Clone(e).(*filer_pb.Entry))
			}
		}
		f.cl.mu.Unlock()
		slices.SortFunc(page, func(a, b *filer_pb.Entry) int { return strings.Compare(a.Name, b.Name) })
		for i, e := range page {
			if req.OmitChunks {
				e.Attributes.FileSize = filer.FileSize(e)
				e.Chunks = nil
			}
			if uint32(i) == req.Limit {
				break
			}
			if err := stream.Send(&filer_pb.ListEntriesResponse{Entry: e}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fakeFiler) CreateEntry(ctx context.Context, req *filer_pb.CreateEntryRequest) (resp *filer_pb.CreateEntryResponse, err error) {
	resp = &filer_pb.CreateEntryResponse{}
	err = f.act(ctx, "CreateEntry", func() error {
		f.cl.creating.Lock()
		defer f.cl.creating.Unlock()
		full := path.Join(req.Directory, req.Entry.Name)
		old := f.cl.entry(full)
		fail := func(code filer_pb.FilerError, text string) error {
			resp.ErrorCode, resp.Error = code, text
			return nil
		}
		if req.Condition != nil && f.cl.strangeFilers {
			return fail(filer_pb.FilerError_PRECONDITION_FAILED, "precondition failed")
		}
		if old != nil && !f.cl.oldFilers {
			for _, c := range req.GetCondition().GetClauses() {
				if c.Kind != filer_pb.WriteCondition_IF_EXTENDED_NOT_EQUAL || string(old.Extended[c.ExtKey]) == c.ExtValue {
					return fail(filer_pb.FilerError_PRECONDITION_FAILED, "precondition failed")
				}
			}
		}
		switch {
		case old != nil && req.OExcl:
			return fail(filer_pb.FilerError_ENTRY_ALREADY_EXISTS, "exists")
		case old != nil && old.IsDirectory:
			return fail(filer_pb.FilerError_EXISTING_IS_DIRECTORY, "a directory")
		}
		f.cl.add(full, proto.Clone(req.Entry).(*filer_pb.Entry))
		if old != nil {
			f.cl.volume.drop(old, req.Entry)
		}
		return nil
	})
	var inside answerError
	if errors.As(err, &inside) {
		return &filer_pb.CreateEntryResponse{Error: inside.Error(), ErrorCode: inside.code}, nil
	}
	return resp, err
}

func (f *fakeFiler) DeleteEntry(ctx context.Context, req *filer_pb.DeleteEntryRequest) (resp *filer_pb.DeleteEntryResponse, err error) {
	resp = &filer_pb.DeleteEntryResponse{}
	err = f.act(ctx, "DeleteEntry", func() error {
		f.cl.mu.Lock()
		defer f.cl.mu.Unlock()
		full := path.Join(req.Directory, req.Name)
		e := f.cl.entries[full]
		if e == nil {
			return nil
		}
		if e.IsDirectory && !req.IsRecursive {
			for name := range f.cl.entries {
				if path.Dir(name) == full {
					resp.Error = filer.MsgFailDelNonEmptyFolder + ": " + full
					return nil
				}
			}
		}
		delete(f.cl.entries, full)
		if req.IsDeleteData {
			f.cl.volume.drop(e, nil)
		}
		return nil
	})
	return resp, err
}

func (f *fakeFiler) AssignVolume(ctx context.Context, req *filer_pb.AssignVolumeRequest) (resp *filer_pb.AssignVolumeResponse, err error) {
	err = f.act(ctx, "AssignVolume", func() error {
		f.cl.mu.Lock()
		defer f.cl.mu.Unlock()
		f.cl.next++
		resp = &filer_pb.AssignVolumeResponse{
			FileId:   fmt.Sprintf("7,%x%08x", 0x1000+f.cl.next, 0xc0000000+f.cl.next),
			Location: &filer_pb.Location{Url: f.cl.volume.host, GrpcPort: uint32(f.cl.volume.port)},
			Auth:     "token of " + req.Path,
			Fsync:    f.cl.volume.wantFsync,
			Replicas: f.cl.replicas, Replication: f.cl.replication,
		}
		if req.Collection != "" {
			resp.Auth = "token of " + req.Collection
		}
		return nil
	})
	return resp, err
}

func (f *fakeFiler) LookupVolume(ctx context.Context, req *filer_pb.LookupVolumeRequest) (resp *filer_pb.LookupVolumeResponse, err error) {
	err = f.act(ctx, "LookupVolume", func() error {
		resp = &filer_pb.LookupVolumeResponse{LocationsMap: map[string]*filer_pb.Locations{}}
		for _, vid := range req.VolumeIds {
			resp.LocationsMap[vid] = &filer_pb.Locations{Locations: []*filer_pb.Location{{Url: f.cl.volume.host, GrpcPort: uint32(f.cl.volume.port)}}}
		}
		return nil
	})
	return resp, err
}

func (f *fakeFiler) CacheRemoteObjectToLocalCluster(ctx context.Context, req *filer_pb.CacheRemoteObjectToLocalClusterRequest) (resp *filer_pb.CacheRemoteObjectToLocalClusterResponse, err error) {
	err = f.act(ctx, "CacheRemoteObjectToLocalCluster", func() error {
		full := path.Join(req.Directory, req.Name)
		e := proto.Clone(f.cl.entry(full)).(*filer_pb.Entry)
		e.Chunks = []*filer_pb.FileChunk{f.cl.volume.chunk(0, f.cl.remote[full])}
		f.cl.add(full, e)
		resp = &filer_pb.CacheRemoteObjectToLocalClusterResponse{Entry: e}
		return nil
	})
	return resp, err
}
