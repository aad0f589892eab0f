package counting

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// scripted is a filer that answers a few calls.
type scripted struct {
	filer_pb.UnimplementedSeaweedFilerServer
}

func (scripted) ListEntries(r *filer_pb.ListEntriesRequest, stream grpc.ServerStreamingServer[filer_pb.ListEntriesResponse]) error {
	for i := range r.GetLimit() {
		if err := stream.Send(&filer_pb.ListEntriesResponse{Entry: &filer_pb.Entry{Name: strings.Repeat("x", int(i+1))}}); err != nil {
			return err
		}
	}
	return nil
}

func (scripted) LookupDirectoryEntry(ctx context.Context, r *filer_pb.LookupDirectoryEntryRequest) (*filer_pb.LookupDirectoryEntryResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if len(md.Get("stamp")) != 1 {
		return nil, status.Error(codes.PermissionDenied, "no stamp")
	}
	if err := grpc.SetTrailer(ctx, metadata.Pairs("took", "long")); err != nil {
		return nil, err
	}
	if r.GetName() == "none" {
		return nil, status.Error(codes.NotFound, "no such entry")
	}
	return &filer_pb.LookupDirectoryEntryResponse{Entry: &filer_pb.Entry{Name: r.GetName(), Content: make([]byte, 8<<20)}}, nil
}

func (scripted) StreamMutateEntry(stream grpc.BidiStreamingServer[filer_pb.StreamMutateEntryRequest, filer_pb.StreamMutateEntryResponse]) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return nil
		}
		if err := stream.Send(&filer_pb.StreamMutateEntryResponse{RequestId: r.GetRequestId()}); err != nil {
			return err
		}
	}
}

// start starts a filer, one that counts before it, and a client of that.
func start(t *testing.T) (*Filer, filer_pb.SeaweedFilerClient) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	filer_pb.RegisterSeaweedFilerServer(server, scripted{})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	f, err := Start(l.Addr().String(), web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(pb.ServerAddress(f.Address()).ToGrpcAddress(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
		web.Close()
		server.Stop()
		serving.Wait()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		goleak.VerifyNone(t, ignore)
	})
	return f, filer_pb.NewSeaweedFilerClient(conn)
}

// Everything arrives as it was sent, and is counted once.
func TestForward(t *testing.T) {
	f, client := start(t)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "stamp", "1")
	stream, err := client.ListEntries(ctx, &filer_pb.ListEntriesRequest{Directory: "/buckets/lab", Prefix: "p", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		if _, err := stream.Recv(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
	}
	if n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
	var trailer metadata.MD
	got, err := client.LookupDirectoryEntry(ctx, &filer_pb.LookupDirectoryEntryRequest{Directory: "/buckets", Name: "lab"}, grpc.Trailer(&trailer))
	if err != nil || got.GetEntry().GetName() != "lab" || len(got.GetEntry().GetContent()) != 8<<20 || len(trailer.Get("took")) != 1 {
		t.Errorf("%d bytes of %q, trailer %v, %v", len(got.GetEntry().GetContent()), got.GetEntry().GetName(), trailer, err)
	}
	if _, err := client.LookupDirectoryEntry(ctx, &filer_pb.LookupDirectoryEntryRequest{Directory: "/buckets", Name: "none"}); status.Code(err) != codes.NotFound || status.Convert(err).Message() != "no such entry" {
		t.Errorf("got %v", err)
	}
	if _, err := client.GetFilerConfiguration(ctx, &filer_pb.GetFilerConfigurationRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("got %v", err)
	}
	want := Counts{"ListEntries /buckets/lab": 1, "LookupDirectoryEntry /buckets/lab": 1, "LookupDirectoryEntry /buckets/none": 1, "GetFilerConfiguration ": 1}
	if got := f.Take().Per(func(c Call) string { return c.Method + " " + c.Path }); got.String() != want.String() {
		t.Errorf("counted\n%v\nwant\n%v", got, want)
	}
	if rest := f.Take(); len(rest) != 0 {
		t.Errorf("counted %v twice", rest)
	}
}

// A stream goes both ways at once, and one that is given up ends.
func TestStream(t *testing.T) {
	f, client := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := client.StreamMutateEntry(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(100) {
		if err := stream.Send(&filer_pb.StreamMutateEntryRequest{RequestId: i}); err != nil {
			t.Fatal(err)
		}
		if r, err := stream.Recv(); err != nil || r.GetRequestId() != i {
			t.Fatalf("%v, %v", r, err)
		}
	}
	cancel()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
	if got := f.Take(); len(got) != 1 || got[0].Method != "StreamMutateEntry" {
		t.Errorf("counted %v", got)
	}
}

func TestHTTP(t *testing.T) {
	f, _ := start(t)
	resp, err := http.Get("http://" + pb.ServerAddress(f.Address()).ToHttpAddress() + "/buckets/lab/x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "/buckets/lab/x" {
		t.Errorf("%q, %v", body, err)
	}
	if got := f.Take(); len(got) != 1 || got[0] != (Call{"HTTP GET", "/buckets/lab/x"}) {
		t.Errorf("counted %v", got)
	}
}
