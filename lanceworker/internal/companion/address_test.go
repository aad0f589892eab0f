package companion

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGrpcAddress(t *testing.T) {
	port := 0
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/plugin/status" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"worker_grpc_port": %d}`, port)
	}))
	defer admin.Close()
	address := strings.TrimPrefix(admin.URL, "http://")
	for _, p := range []int{0, 70000, -1} {
		port = p
		if got := grpcAddress(t.Context(), "127.0.0.1:12535.22"); got != "127.0.0.1:22" {
			t.Errorf("with a port of its own: %s", got)
		}
		if got := grpcAddress(t.Context(), address); got == "" || strings.HasSuffix(got, fmt.Sprint(":", p)) {
			t.Errorf("port %d: %s", p, got)
		}
	}
	port = 4711
	if got := grpcAddress(t.Context(), address); got != "127.0.0.1:4711" {
		t.Errorf("asked admin: %s", got)
	}
}
