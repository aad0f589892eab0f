package lanceworker

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

func newPreviewer(r *rig, read func(ctx context.Context, e entry, rows int) (sample, error)) *previewer {
	return &previewer{lakes: r.lakes, metrics: r.metrics, read: read, seen: func(context.Context, entry) {},
		guard: func(what string, f func() error) error { return guard(r.log, what, f) }}
}

func TestPreview(t *testing.T) {
	r := newRig(t, &fakeJob{look: due}, lakeOf("lab$ml$v"))
	r.lake.entries = append(r.lake.entries, evil("evil"))
	asked := 0
	p := newPreviewer(r, func(_ context.Context, e entry, rows int) (sample, error) {
		asked = rows
		if e.place.String() != "lab$ml$v" {
			t.Errorf("read %s", e.place)
		}
		return sample{columns: []string{"a", "b"}, rows: [][]string{{"1", ""}, {"2", "x"}}, total: 77}, nil
	})
	request := func(rows int32, id ...string) *plugin_pb.RequestObjectPreview {
		return &plugin_pb.RequestObjectPreview{ObjectId: id, Format: "lance", RowLimit: rows}
	}
	failing := func(r *plugin_pb.RequestObjectPreview, want string) {
		t.Helper()
		if a := p.answer(t.Context(), r); a.GetSuccess() || !strings.Contains(a.GetErrorMessage(), want) {
			t.Errorf("answer to %v: %v, want %q", r, a, want)
		}
	}
	failing(request(5, "lab", "ml", "v"), "where the cluster is")
	r.sweepOnce(t, 0)
	for rows, want := range map[int32]int{5: 5, 0: 1, -3: 1, 200: 200, 100000: 200} {
		a := p.answer(t.Context(), request(rows, "lab", "ml", "v"))
		if !a.GetSuccess() || asked != want || !slices.Equal(a.GetColumns(), []string{"a", "b"}) || a.GetTotalRows() != 77 || len(a.GetRows()) != 2 || !slices.Equal(a.GetRows()[1].GetValues(), []string{"2", "x"}) {
			t.Errorf("%d rows: asked for %d, answered %v", rows, asked, a)
		}
	}
	failing(request(5, "lab", "ml", "none"), "no table lab$ml$none")
	failing(request(5, "evil"), "a name that leads out")
	failing(&plugin_pb.RequestObjectPreview{ObjectId: []string{"lab", "ml", "v"}, Format: "ICEBERG"}, `not "ICEBERG"`)
	p.read = func(context.Context, entry, int) (sample, error) { return sample{}, errFake }
	failing(request(5, "lab", "ml", "v"), "reading lab$ml$v: disk on fire")
	p.read = func(context.Context, entry, int) (sample, error) { panic("oh") }
	failing(request(5, "lab", "ml", "v"), "panic: oh")
	got := values(t, r.registry)
	if got["SeaweedFS_worker_previews_total{result=ok}"] != 5 || got["SeaweedFS_worker_previews_total{result=failed}"] != 6 {
		t.Errorf("metrics %v", got)
	}
	// The connection that the sweep opened is still the only user.
	if r.lakes.mu.current.users != 1 {
		t.Errorf("%d users of the connection are left", r.lakes.mu.current.users)
	}
}
