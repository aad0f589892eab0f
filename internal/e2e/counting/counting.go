// Package counting stands between a program and a filer and counts the calls, for tests of
// what something costs.
//
// A Filer forwards gRPC calls as they are, whatever the method, and HTTP requests too. Its
// Address is to be given to the program under test in place of the filer's own.
package counting

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// maxMessage is more than any message of a filer.
const maxMessage = 1 << 30

// Call is one call to the filer.
type Call struct {
	// Method is the gRPC method without its service, or "HTTP" and the method of a request.
	Method string
	// Path is the directory or entry that the call is about; empty where it is about none.
	Path string
}

// Filer is a filer that counts. Its methods may be called from many goroutines.
type Filer struct {
	host       string
	http, grpc int
	conn       *grpc.ClientConn
	server     *grpc.Server
	web        *http.Server
	serving    sync.WaitGroup

	mu struct {
		sync.Mutex
		calls []Call
	}
}

// Start starts one before a filer that speaks without TLS: its gRPC and its HTTP address. The
// caller stops it.
func Start(grpcAddress, httpAddress string) (*Filer, error) {
	// The address is one already: nothing is to be looked up.
	conn, err := grpc.NewClient("passthrough:///"+grpcAddress, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("counting calls to %s: %w", grpcAddress, err)
	}
	f := &Filer{host: "127.0.0.1", conn: conn}
	calls, err := net.Listen("tcp", f.host+":0")
	if err != nil {
		return nil, fmt.Errorf("counting calls: %w", err)
	}
	requests, err := net.Listen("tcp", f.host+":0")
	if err != nil {
		return nil, fmt.Errorf("counting requests: %w", err)
	}
	f.grpc, f.http = calls.Addr().(*net.TCPAddr).Port, requests.Addr().(*net.TCPAddr).Port
	f.server = grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(f.forward),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	through := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: httpAddress})
	f.web = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.note(Call{"HTTP " + r.Method, r.URL.Path})
		through.ServeHTTP(w, r)
	})}
	// Both end with an error that says that they were stopped.
	f.serving.Go(func() { _ = f.server.Serve(calls) })
	f.serving.Go(func() { _ = f.web.Serve(requests) })
	return f, nil
}

// Stop ends it, and all calls under way.
func (f *Filer) Stop() error {
	f.server.Stop()
	err := f.web.Close()
	f.serving.Wait()
	if closing := f.conn.Close(); err == nil {
		err = closing
	}
	return err
}

// Address is host:port.grpcPort, as SeaweedFS writes the address of a server whose ports do
// not follow from each other.
func (f *Filer) Address() string { return fmt.Sprintf("%s:%d.%d", f.host, f.http, f.grpc) }

func (f *Filer) note(c Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.calls = append(f.mu.calls, c)
}

// Take returns the calls since it was called last, in the order in which they arrived.
func (f *Filer) Take() Calls {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.mu.calls
	f.mu.calls = nil
	return calls
}

// Calls are calls in the order in which they arrived.
type Calls []Call

// Per counts calls by something of theirs.
func (c Calls) Per(what func(Call) string) Counts {
	counts := make(Counts)
	for _, call := range c {
		counts[what(call)]++
	}
	return counts
}

// Counts are numbers by name.
type Counts map[string]int

// String lists them, the largest first.
func (c Counts) String() string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b)) })
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "%7d %s\n", c[name], name)
	}
	return text.String()
}
