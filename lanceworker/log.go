package lanceworker

import (
	"context"
	"log/slog"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/glog"
)

// glogHandler writes records to SeaweedFS's own log, one line each: the
// message, then the attributes as name=value.
type glogHandler struct {
	// attrs are what With added, ready to be appended.
	attrs string
	// group qualifies the names of further attributes, with its dot.
	group string
}

var _ slog.Handler = glogHandler{}

func (glogHandler) Enabled(_ context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || bool(glog.V(1))
}

func (h glogHandler) Handle(_ context.Context, r slog.Record) error {
	line := h.line(r)
	// From here over Handle, the logger's own two frames to the one that logged.
	const depth = 3
	switch {
	case r.Level >= slog.LevelError:
		glog.ErrorDepth(depth, line)
	case r.Level >= slog.LevelWarn:
		glog.WarningDepth(depth, line)
	default:
		glog.InfoDepth(depth, line)
	}
	return nil
}

func (h glogHandler) line(r slog.Record) string {
	line := r.Message + h.attrs
	r.Attrs(func(a slog.Attr) bool {
		line += h.format(a)
		return true
	})
	return line
}

func (h glogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += h.format(a)
	}
	return h
}

func (h glogHandler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.group += name + "."
	}
	return h
}

func (h glogHandler) format(a slog.Attr) string {
	value := a.Value.Resolve().String()
	// A line stays a line: an error's text may hold anything.
	value = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(value)
	if strings.ContainsAny(value, " =") {
		value = `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
	}
	return " " + h.group + a.Key + "=" + value
}
