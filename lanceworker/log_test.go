package lanceworker

import (
	"errors"
	"log/slog"
	"testing"
	"time"
)

func TestLogLine(t *testing.T) {
	r := slog.NewRecord(time.Time{}, slog.LevelWarn, "skipping a table", 0)
	r.AddAttrs(slog.String("table", "lab$ml$v"), slog.Any("reason", errors.New("reading x:\n\"cut\" off")), slog.Int("n", 3))
	h := glogHandler{}.WithAttrs([]slog.Attr{slog.String("job_type", "lance_compact")}).WithGroup("").WithGroup("job").(glogHandler)
	want := `skipping a table job_type=lance_compact job.table=lab$ml$v job.reason="reading x:\n\"cut\" off" job.n=3`
	if got := h.line(r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
