package filerstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// TestListBreaksOff: a listing whose stream ends in an error is asked for
// again, or is an error; never a short page.
func TestListBreaksOff(t *testing.T) {
	broken := func(code codes.Code) step {
		return func(_ context.Context, apply func() error) error {
			apply() // all of it is sent, and still it is not a page
			return status.Error(code, "broken off")
		}
	}
	for name, c := range map[string]struct {
		steps []step
		fails bool
	}{
		"once":                     {[]step{broken(codes.Unavailable)}, false},
		"for good":                 {[]step{broken(codes.Unavailable), broken(codes.Unavailable), broken(codes.Unavailable)}, true},
		"with an error":            {[]step{broken(codes.Internal)}, true},
		"of the filer's own store": {[]step{broken(codes.Unknown)}, true},
	} {
		cl := newFake(t, 1)
		for i := range 10 {
			cl.add(fmt.Sprintf("%s/d/%d", root, i), &filer_pb.Entry{Content: []byte("x")})
		}
		s := cl.store()
		cl.filers[0].plan("ListEntries", c.steps...)
		es, err := s.List(t.Context(), "d", "", 100)
		if (err != nil) != c.fails || !c.fails && len(es) != 10 {
			t.Errorf("%s: %d entries, %v", name, len(es), err)
		}
	}
}

// unsorted is a filer whose store goes by some language's rules.
type unsorted struct {
	filer_pb.UnimplementedSeaweedFilerServer
	names []string
}

func (u *unsorted) GetFilerConfiguration(context.Context, *filer_pb.GetFilerConfigurationRequest) (*filer_pb.GetFilerConfigurationResponse, error) {
	return &filer_pb.GetFilerConfigurationResponse{}, nil
}

func (u *unsorted) ListEntries(_ *filer_pb.ListEntriesRequest, stream grpc.ServerStreamingServer[filer_pb.ListEntriesResponse]) error {
	for _, n := range u.names {
		if err := stream.Send(&filer_pb.ListEntriesResponse{Entry: &filer_pb.Entry{Name: n, Attributes: &filer_pb.FuseAttributes{}}}); err != nil {
			return err
		}
	}
	return nil
}

func TestListOrderIsChecked(t *testing.T) {
	for _, c := range []struct {
		names []string
		from  string
		limit int
		fails bool
	}{
		{[]string{"A", "_", "a"}, "", 10, false},
		{[]string{"_", "A", "a"}, "", 10, true},
		{[]string{"a", "a"}, "", 10, true},
		{[]string{"a"}, "b", 10, true},
		{[]string{"b"}, "b", 10, false},
		{[]string{"a", "b", "c"}, "", 2, true},
	} {
		server := grpc.NewServer()
		filer_pb.RegisterSeaweedFilerServer(server, &unsorted{names: c.names})
		addr := serve(t, server, "127.0.0.1:0")
		cl, err := Connect(t.Context(), Config{Filers: append([]pbAddress(nil), addr)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = cl.ListEntries(t.Context(), "/d", c.from, c.limit)
		if (err != nil) != c.fails {
			t.Errorf("%q from %q: %v", c.names, c.from, err)
		}
		cl.Close()
	}
}

// TestListPromoted: a file that became a directory when something was created
// below it stays an object; a directory that a client made a key for does not
// become one.
func TestListPromoted(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	promoted := cl.add(root+"/d/1.manifest", &filer_pb.Entry{IsDirectory: true, Chunks: []*filer_pb.FileChunk{cl.volume.chunk(0, []byte("content"))},
		Attributes: &filer_pb.FuseAttributes{FileSize: 7}})
	cl.add(root+"/d/1.manifest/below", &filer_pb.Entry{})
	empty := cl.add(root+"/d/2", &filer_pb.Entry{IsDirectory: true})
	empty.MarkPrefixObject()
	marker := cl.add(root+"/d/3", &filer_pb.Entry{IsDirectory: true, Content: []byte("x")})
	marker.Attributes.Mime = "application/x-directory"
	cl.add(root+"/d/3/below", &filer_pb.Entry{})
	cl.add(root+"/d/4", &filer_pb.Entry{IsDirectory: true})
	cl.add(root+"/d/5/deeper/still", &filer_pb.Entry{IsDirectory: true})
	cl.add(root+"/d/6/deeper/still/file", &filer_pb.Entry{})
	es, err := s.List(t.Context(), "d", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range es {
		got = append(got, fmt.Sprintf("%s %v %d", e.Name, e.Dir, e.Size))
	}
	if want := "1.manifest false 7,2 false 0,3 true 0,6 true 0"; strings.Join(got, ",") != want {
		t.Errorf("listed %q, want %q", got, want)
	}
	if p := read(t, s, "d/1.manifest"); string(p) != "content" {
		t.Errorf("%q", p)
	}
	if p := read(t, s, "d/2"); len(p) != 0 {
		t.Errorf("%q", p)
	}
	for _, name := range []string{"d/3", "d/4"} {
		if _, err := s.Open(t.Context(), name); !errors.Is(err, objects.ErrNotFound) {
			t.Errorf("Open(%s): %v", name, err)
		}
	}
	for _, name := range []string{"d/1.manifest", "d/2", "d/3", "d/4"} {
		if err := s.Delete(t.Context(), name); err == nil || errors.Is(err, objects.ErrUnknown) {
			t.Errorf("Delete(%s): %v, want a refusal", name, err)
		}
	}
	if cl.entry(root+"/d/1.manifest") != promoted || cl.entry(root+"/d/4") == nil {
		t.Error("something was deleted")
	}
	// A page is full even when some of what the filer lists does not count.
	one, err := s.List(t.Context(), "d", "3\x00", 1)
	if err != nil || len(one) != 1 || one[0].Name != "6" {
		t.Errorf("one entry after 3: %+v, %v", one, err)
	}
}

// TestTokens follows the gateway's rules for ETags.
func TestTokens(t *testing.T) {
	cl := newFake(t, 1)
	s := cl.store()
	chunk := func(p string) *filer_pb.FileChunk { return cl.volume.chunk(0, []byte(p)) }
	two := []*filer_pb.FileChunk{chunk("a"), chunk("b")}
	two[1].Offset = 1
	sum := func(p string) []byte { b := md5hex([]byte(p)); var out []byte; fmt.Sscanf(b, "%x", &out); return out }
	for name, c := range map[string]struct {
		entry *filer_pb.Entry
		want  string
	}{
		"stored": {&filer_pb.Entry{Extended: map[string][]byte{s3_constants.ExtETagKey: []byte(`"abc-2"`)}, Attributes: &filer_pb.FuseAttributes{Md5: sum("x")}}, "abc-2"},
		"md5":    {&filer_pb.Entry{Attributes: &filer_pb.FuseAttributes{Md5: sum("x")}, Chunks: two}, md5hex([]byte("x"))},
		"chunk":  {&filer_pb.Entry{Chunks: []*filer_pb.FileChunk{chunk("a")}}, md5hex([]byte("a"))},
		"chunks": {&filer_pb.Entry{Chunks: two}, md5hex(append(sum("a"), sum("b")...)) + "-2"},
		"none":   {&filer_pb.Entry{}, ""},
		"synced": {&filer_pb.Entry{Attributes: &filer_pb.FuseAttributes{FileSize: 1}, Chunks: []*filer_pb.FileChunk{chunk("a")},
			RemoteEntry: &filer_pb.RemoteEntry{RemoteSize: 1, RemoteETag: "r", LastLocalSyncTsNs: 1}}, "r"},
		"changed since": {&filer_pb.Entry{Attributes: &filer_pb.FuseAttributes{FileSize: 1}, Chunks: []*filer_pb.FileChunk{chunk("a")},
			RemoteEntry: &filer_pb.RemoteEntry{RemoteSize: 1, RemoteETag: "r"}}, md5hex([]byte("a"))},
		"resized": {&filer_pb.Entry{Attributes: &filer_pb.FuseAttributes{FileSize: 1}, Chunks: []*filer_pb.FileChunk{chunk("a")},
			RemoteEntry: &filer_pb.RemoteEntry{RemoteSize: 2, RemoteETag: "r", LastLocalSyncTsNs: 1}}, md5hex([]byte("a"))},
	} {
		cl.add(root+"/t/"+name, c.entry)
		if r, err := s.Open(t.Context(), "t/"+name); err != nil || ETag(r.Entry().Token) != c.want {
			t.Errorf("%s: %v, %v; want %s", name, r, err, c.want)
		}
	}
	es, err := s.List(t.Context(), "t", "", 100)
	if err != nil || len(es) != 8 {
		t.Fatal(es, err)
	}
	for _, e := range es {
		r, err := s.Open(t.Context(), "t/"+e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if o := r.Entry(); o.Token != e.Token || o.Size != e.Size || !o.ModTime.Equal(e.ModTime) {
			t.Errorf("listed as %+v, opened as %+v", e, o)
		}
	}
}
