package lanceworker

import (
	"context"
	"fmt"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

// maxPreviewRows is what admin asks for at most.
const maxPreviewRows = 200

// sample is the beginning of a table, ready to be shown.
type sample struct {
	columns []string
	rows    [][]string
	// total is how many rows the table has.
	total uint64
}

// previewer answers admin's requests for rows.
type previewer struct {
	lakes   *lakes
	metrics *metrics
	guard   func(what string, f func() error) error
	read    func(ctx context.Context, e entry, rows int) (sample, error)
	// seen has admin's page of the table say what its rows now say.
	seen func(ctx context.Context, e entry)
}

// answer never fails: what went wrong is part of the answer.
func (p *previewer) answer(ctx context.Context, r *plugin_pb.RequestObjectPreview) *plugin_pb.ObjectPreviewResponse {
	var s sample
	err := p.guard("preview", func() (err error) {
		s, err = p.sample(ctx, r)
		return err
	})
	p.metrics.previews.WithLabelValues(result(err == nil)).Inc()
	if err != nil {
		return &plugin_pb.ObjectPreviewResponse{ErrorMessage: strings.ToValidUTF8(err.Error(), "\ufffd")}
	}
	out := &plugin_pb.ObjectPreviewResponse{Success: true, Columns: s.columns, TotalRows: int64(s.total)}
	for _, row := range s.rows {
		out.Rows = append(out.Rows, &plugin_pb.PreviewRow{Values: row})
	}
	return out
}

func (p *previewer) sample(ctx context.Context, r *plugin_pb.RequestObjectPreview) (sample, error) {
	if !strings.EqualFold(r.GetFormat(), lanceFormat) {
		return sample{}, fmt.Errorf("this worker reads tables of the format %s, not %q", lanceFormat, r.GetFormat())
	}
	name := encodeID(r.GetObjectId())
	l, release, ok := p.lakes.current()
	if !ok {
		return sample{}, fmt.Errorf("reading %s: no detection has told this worker yet where the cluster is", name)
	}
	defer release()
	e, err := l.find(ctx, r.GetObjectId())
	if err == nil {
		err = e.err
	}
	if err != nil {
		return sample{}, fmt.Errorf("looking up %s: %w", name, err)
	}
	s, err := p.read(ctx, e, int(min(max(r.GetRowLimit(), 1), maxPreviewRows)))
	if err != nil {
		return sample{}, fmt.Errorf("reading %s: %w", name, err)
	}
	p.seen(ctx, e)
	return s, nil
}
