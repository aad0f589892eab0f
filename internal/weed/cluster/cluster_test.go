package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestPortsAreNotGivenTwice(t *testing.T) {
	var (
		mu  sync.Mutex
		wg  sync.WaitGroup
		got = make(map[int]bool)
	)
	for range 8 {
		p := new(ports)
		t.Cleanup(p.release)
		wg.Go(func() {
			for range 8 {
				port, err := p.reserve()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if got[port] || port < firstPort || port > lastPort || wellKnown[port] {
					t.Errorf("port %d", port)
				}
				got[port] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestChildrenSeeOptionsAlone(t *testing.T) {
	t.Setenv("WEED_JWT_SIGNING_KEY", "of this machine")
	t.Setenv("IP", "192.0.2.1")
	t.Setenv(ownVariables+"X", "kept")
	c := &Cluster{opt: Options{Dir: t.TempDir(), Program: "weed", Security: "[grpc]\n", Env: []string{"A=b"}}}
	if err := c.configure(); err != nil {
		t.Fatal(err)
	}
	cmd := c.Command("version")
	for _, v := range cmd.Env {
		if strings.Contains(v, "of this machine") || strings.HasPrefix(v, "IP=") {
			t.Errorf("a child gets %s", v)
		}
	}
	for _, want := range []string{"A=b", ownVariables + "X=kept", "HOME=" + c.opt.Dir} {
		if !slices.Contains(cmd.Env, want) {
			t.Errorf("a child doesn't get %s but %v", want, cmd.Env)
		}
	}
	if i := slices.Index(cmd.Args, "-config_dir="+c.ConfigDir()); i < 0 || i > slices.Index(cmd.Args, "version") {
		t.Errorf("arguments %v", cmd.Args)
	}
	b, err := os.ReadFile(filepath.Join(c.ConfigDir(), "security.toml"))
	if err != nil || string(b) != "[grpc]\n" {
		t.Errorf("security.toml is %q (%v)", b, err)
	}
}

func TestUntil(t *testing.T) {
	calls := 0
	err := Until(t.Context(), "three calls", func(context.Context) error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone, reason := errors.New("gone"), errors.New("no answer")
	err = Until(ctx, "never", func(context.Context) error {
		cancel(gone)
		return reason
	})
	if !errors.Is(err, gone) || !errors.Is(err, reason) {
		t.Errorf("got %v, want both why it ended and what was wrong", err)
	}
}

func TestConfigureKeepsTheRest(t *testing.T) {
	stored := map[string]any{
		"job_type":             "lance_compact",
		"admin_runtime":        map[string]any{"retry_limit": 3.0},
		"worker_config_values": map[string]any{"min_fragments": map[string]any{"int64_value": "8"}},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/plugin/job-types/lance_compact/config" {
			http.NotFound(w, r)
			return
		}
		if r.Method == http.MethodPut {
			clear(stored)
			if err := json.NewDecoder(r.Body).Decode(&stored); err != nil {
				t.Error(err)
			}
		}
		if err := json.NewEncoder(w).Encode(stored); err != nil {
			t.Error(err)
		}
	}))
	defer srv.Close()
	a := &Admin{base: srv.URL}
	if err := errors.Join(a.Configure(t.Context(), "lance_compact", map[string]int64{"target_rows_per_fragment": 2048}), a.Enable(t.Context(), "lance_compact", true)); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(stored)
	const want = `{"admin_runtime":{"enabled":true,"retry_limit":3},"job_type":"lance_compact","worker_config_values":{"min_fragments":{"int64_value":"8"},"target_rows_per_fragment":{"int64_value":"2048"}}}`
	if err != nil || string(got) != want {
		t.Errorf("stored %s (%v)\nwant %s", got, err, want)
	}
	var status *StatusError
	if err := a.Enable(t.Context(), "other", true); !errors.As(err, &status) || status.Status != http.StatusNotFound {
		t.Errorf("got %v, want a StatusError of 404", err)
	}
}
