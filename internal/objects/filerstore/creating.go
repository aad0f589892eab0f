package filerstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// fileMode is what the S3 gateway gives to the objects it stores.
const fileMode = 0o660

// creating is a put under way.
type creating struct {
	put
	s  *store
	id string
	at time.Time
	// bare: without the condition, which the filer does not understand.
	bare bool
	// uploads are all that were used; the last one is in the latest request.
	uploads []*upload
	failure error
}

// put creates the entry. Before it returns, all chunks are given back that no
// entry can come to name.
func (s *store) put(ctx context.Context, p put) (objects.Entry, error) {
	c := &creating{put: p, s: s, id: uuid.NewString()}
	if p.made != nil {
		c.uploads = []*upload{p.made}
	}
	at := c.send(ctx)
	if at == ours {
		// So says the condition; a filer of another age may only have meant that
		// it does not know conditions of this kind. What is there tells.
		if at = c.look(ctx); at == unclear && !c.pending() {
			c.bare = true
			at = c.send(ctx)
		}
	}
	if c.pending() && at != created && at != ours {
		at = c.look(ctx)
	}
	return c.conclude(ctx, at)
}

// state is what is known about an entry being created.
type state int

const (
	// unclear: not answered. May have been created, or may still be.
	unclear state = iota
	// later: certainly not created, and may be asked for again.
	later
	// refused: certainly not created.
	refused
	// created by the request that was sent last.
	created
	// ours is there, from an earlier request.
	ours
	// taken by another's.
	taken
)

// send asks filers to create the entry until one answers.
func (p *creating) send(ctx context.Context) state {
	at := later
	err := p.s.c.each(ctx, func(f *endpoint) bool {
		u := p.last()
		if u == nil || u.pending && p.make != nil {
			if u, p.failure = p.make(ctx); p.failure != nil {
				at = refused
				return true
			}
			p.uploads = append(p.uploads, u)
		}
		at = p.sendTo(ctx, f, u)
		return at != unclear && at != later
	})
	if err != nil && p.failure == nil {
		p.failure = err
	} else if err != nil {
		p.failure = fmt.Errorf("%w: %w", err, p.failure)
	}
	return at
}

func (p *creating) last() *upload {
	if len(p.uploads) == 0 {
		return nil
	}
	return p.uploads[len(p.uploads)-1]
}

// sendTo makes one request.
func (p *creating) sendTo(ctx context.Context, f *endpoint, u *upload) state {
	var resp *filer_pb.CreateEntryResponse
	err := p.s.c.call(ctx, f, p.s.c.cfg.CallTimeout, func(ctx context.Context, client filer_pb.SeaweedFilerClient) (err error) {
		resp, err = client.CreateEntry(ctx, p.request(u))
		return err
	})
	p.failure = denied(err)
	switch classify(err) {
	case undone:
		return later
	case silent, vague:
		u.pending = true
		return unclear
	}
	if err != nil {
		return refused
	}
	p.s.c.observe(resp.GetLogTsNs())
	if resp.GetErrorCode() == filer_pb.FilerError_OK && resp.GetError() == "" {
		return created
	}
	p.failure = errors.New(resp.GetError())
	if sentinel := filer_pb.FilerErrorToSentinel(resp.GetErrorCode()); sentinel != nil {
		p.failure = sentinel
	}
	switch resp.GetErrorCode() {
	case filer_pb.FilerError_PRECONDITION_FAILED:
		// The only condition is that no entry with our mark is there.
		return ours
	case filer_pb.FilerError_ENTRY_ALREADY_EXISTS:
		return taken
	case filer_pb.FilerError_READ_ONLY:
		p.failure = fmt.Errorf("%w: %w", objects.ErrDenied, p.failure)
		return refused
	case filer_pb.FilerError_ENTRY_NAME_TOO_LONG, filer_pb.FilerError_EXISTING_IS_DIRECTORY, filer_pb.FilerError_EXISTING_IS_FILE:
		return refused
	default:
		// The filer's store may have taken the entry before it failed, and
		// when only its parent directories could not be made, it has.
		u.pending = true
		return unclear
	}
}

// request is the create with the bytes of one upload. An exclusive one carries
// the condition that no entry with our own mark is there, which the filer that
// owns the path checks first: so its refusal tells ours from another's.
func (p *creating) request(u *upload) *filer_pb.CreateEntryRequest {
	if p.at.IsZero() {
		p.at = p.s.c.now()
	}
	req := &filer_pb.CreateEntryRequest{
		Directory: p.dir,
		OExcl:     p.exclusive,
		Entry: &filer_pb.Entry{
			Name:   p.base,
			Chunks: u.chunks,
			Attributes: &filer_pb.FuseAttributes{
				Crtime:   p.at.Unix(),
				Mtime:    p.at.Unix(),
				FileMode: fileMode,
				Uid:      filer_pb.OS_UID,
				Gid:      filer_pb.OS_GID,
				Mime:     mime,
				FileSize: uint64(u.size),
				Md5:      u.sum,
			},
			Extended: map[string][]byte{
				s3_constants.ExtETagKey:       fmt.Appendf(nil, "%x", u.sum),
				s3_constants.SeaweedFSWriteId: []byte(p.id),
			},
		},
	}
	maps.Copy(req.Entry.Extended, u.extended)
	if p.exclusive && !p.bare {
		req.Condition = &filer_pb.WriteCondition{Clauses: []*filer_pb.WriteCondition_Clause{{
			Kind: filer_pb.WriteCondition_IF_EXTENDED_NOT_EQUAL, ExtKey: s3_constants.SeaweedFSWriteId, ExtValue: p.id,
		}}}
	}
	return req
}

// pending tells that some request was not answered.
func (p *creating) pending() bool {
	return slices.ContainsFunc(p.uploads, func(u *upload) bool { return u.pending })
}

// look settles a create of which one request was not answered by what is there
// now. Any filer that shows our entry proves that it was created, but that
// none does proves nothing: the one that owns the path may know more.
func (p *creating) look(ctx context.Context) state {
	if !p.exclusive {
		return unclear
	}
	found := unclear
	for _, f := range p.s.c.order() {
		err := p.s.c.call(ctx, f, p.s.c.cfg.CallTimeout, func(ctx context.Context, client filer_pb.SeaweedFilerClient) error {
			resp, err := filer_pb.LookupEntry(ctx, client, &filer_pb.LookupDirectoryEntryRequest{Directory: p.dir, Name: p.base})
			if err != nil {
				return err
			}
			found = taken
			if string(resp.GetEntry().GetExtended()[s3_constants.SeaweedFSWriteId]) == p.id {
				found = ours
			}
			return nil
		})
		if err == nil && found == ours {
			return ours
		}
	}
	return found
}

// conclude gives back what is not needed and says how it ended.
func (p *creating) conclude(ctx context.Context, at state) (objects.Entry, error) {
	u := p.last()
	pending := p.pending()
	var spare []string
	for _, each := range p.uploads {
		spare = append(spare, each.used.strays...)
		switch {
		case each.pending:
			if at != created && at != ours {
				p.s.c.cfg.Log.Warn("chunks of an unanswered create kept", "object", p.dir+"/"+p.base, "chunks", each.used.stored)
			}
		case at == created && each == u:
		case at == ours && !pending:
			// Then this is the one that is there, whatever we took the answers for.
		default:
			spare = append(spare, each.used.stored...)
		}
	}
	p.s.c.giveBack(ctx, p.dir+"/"+p.base, spare)
	switch {
	case at == created, at == ours:
		return objects.Entry{Name: p.name, Size: u.size, ModTime: time.Unix(p.at.Unix(), 0), Token: fmt.Sprintf("%x/%s", u.sum, p.id)}, nil
	case at == taken:
		return objects.Entry{}, objects.ErrExists
	case pending:
		return objects.Entry{}, fmt.Errorf("%w: %w", objects.ErrUnknown, p.reason())
	default:
		return objects.Entry{}, p.reason()
	}
}

func (p *creating) reason() error {
	if p.failure == nil {
		return errors.New("the filer gave no reason")
	}
	return p.failure
}
