package lanceworker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
)

// inspectLimit bounds the look at one table, so that one whose storage does not
// answer can't take the time of all the others.
const inspectLimit = 2 * time.Minute

// errSlow is the cause of looks that inspectLimit ended.
var errSlow = fmt.Errorf("no answer within %s", inspectLimit)

// sweepOrder is what one sweep is to do.
type sweepOrder struct {
	task task
	// max is how many proposals there may be; 0 or less is no limit.
	max int
	// until is when to stop and hand over what has been found.
	until time.Time
	// report takes an observation of each table that was read; nil where nobody
	// wants them.
	report func(*plugin_pb.ObjectObservation)
}

// note is one table and what was found.
type note struct {
	table string
	// class is empty where nothing is wrong.
	class reason
	text  string
}

func (n note) String() string {
	if n.class == "" {
		return n.table + ": " + n.text
	}
	return fmt.Sprintf("%s: %s: %s", n.table, n.class, n.text)
}

// sweepResult is what a sweep found.
type sweepResult struct {
	proposals []*plugin_pb.JobProposal
	// more: tables were left out, for the limit or for the time.
	more bool

	// tables is how many the lake has; read how many of them could be read;
	// unwritten how many were declared only.
	tables, read, unwritten int
	// left were read and need no job.
	left []note
	// failed could not be read, now or not long ago; held could, but a job on them failed
	// not long ago.
	failed, held []note
	// odd are those of the read ones that an operator should look at.
	odd []note
}

// allFailed tells a sweep that could read nothing from one that found nothing
// to do.
func (r sweepResult) allFailed() bool {
	return len(r.failed) > 0 && r.read == 0 && len(r.held) == 0
}

// troubles are the tables that something is wrong with.
func (r sweepResult) troubles() []note { return slices.Concat(r.failed, r.held, r.odd) }

func (r sweepResult) String() string {
	s := fmt.Sprintf("%s: %d proposed, %d left as they are", count(r.tables, "Lance table"), len(r.proposals), len(r.left))
	if n := len(r.failed) + len(r.held); n > 0 {
		s += fmt.Sprintf(", %d skipped", n)
	}
	if r.unwritten > 0 {
		s += fmt.Sprintf(", %d not written yet", r.unwritten)
	}
	if r.more {
		s += "; the rest comes first next time"
	}
	return s
}

// sayings are notes as text, at most limit of them.
func sayings(notes []note, limit int) []string {
	out := make([]string, 0, min(len(notes), limit+1))
	for i, n := range notes {
		if i == limit {
			return append(out, fmt.Sprintf("and %d more", len(notes)-i))
		}
		out = append(out, n.String())
	}
	return out
}

// sweep looks at one table after the other until it has enough proposals or
// its time is over. An error means that the sweep was cancelled.
func (h *handler) sweep(ctx context.Context, tables []entry, o sweepOrder) (sweepResult, error) {
	h.forget(tables)
	r := sweepResult{tables: len(tables)}
	previous := ""
	for i, e := range h.cursor.rotate(tables) {
		name := encodeID(e.id)
		if i > 0 && !h.now().Before(o.until) {
			h.cursor.set(previous)
			r.more = true
			return r, nil
		}
		p, err := h.visit(ctx, e, o, &r)
		if err != nil {
			// Not this one first again: it may be what took so long.
			h.cursor.set(name)
			return r, fmt.Errorf("looking at %s: %w", name, err)
		}
		if p != nil && o.max > 0 && len(r.proposals) == o.max {
			h.cursor.set(previous)
			r.more = true
			return r, nil
		}
		if p != nil {
			r.proposals = append(r.proposals, p)
		}
		previous = name
	}
	h.cursor.set("")
	return r, nil
}

// visit looks at one table and enters it in the result. It returns the
// proposal that the table deserves, if any, which is not entered yet.
func (h *handler) visit(ctx context.Context, e entry, o sweepOrder, r *sweepResult) (*plugin_pb.JobProposal, error) {
	name := encodeID(e.id)
	if e.err != nil {
		h.skip(name, classify(e.err, reasonOpen), e.err.Error(), &r.failed)
		return nil, nil
	}
	if f, held := h.backoff.held(name, h.now()); held {
		h.metrics.skip(h.jobType, reasonBackoff)
		list := &r.failed
		if f.step == running {
			list = &r.held
		}
		*list = append(*list, note{table: name, class: reasonBackoff, text: fmt.Sprintf("left alone until %s after %s: %s",
			f.until.UTC().Format(time.RFC3339), count(f.count, "failure"), f.text)})
		return nil, nil
	}

	f, err := h.inspect(ctx, e, o.task)
	if o.report != nil && ctx.Err() == nil && !errors.Is(err, errWithdrawn) {
		if seen := h.observer.observe(ctx, e, f); seen != nil {
			o.report(seen)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, table.ErrNoTable):
		r.unwritten++
		return nil, nil
	case errors.Is(err, errWithdrawn):
		r.tables--
		return nil, nil
	}
	if f.seen {
		h.metrics.seen.WithLabelValues(h.jobType).Inc()
	}
	if err != nil {
		class := reasonOpen
		if f.seen {
			class = reasonStats
		}
		class = classify(err, class)
		h.backoff.fail(name, h.now(), reading, err.Error(), false)
		h.skip(name, class, err.Error(), &r.failed)
		return nil, nil
	}

	r.read++
	h.backoff.succeed(name, reading)
	if f.problem != "" {
		h.skip(name, f.problem, f.trouble, &r.odd)
	} else if h.notices.clear(name) {
		h.log.Info("nothing is wrong with the Lance table any more", "job_type", h.jobType, "table", name)
	}
	if !f.due {
		r.left = append(r.left, note{table: name, text: f.reason})
		return nil, nil
	}
	return h.proposal(e, f), nil
}

func (h *handler) inspect(ctx context.Context, e entry, t task) (f finding, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, inspectLimit, errSlow)
	defer cancel()
	err = h.guard(func() error {
		s, err := h.tables.look(ctx, e)
		if err != nil {
			return err
		}
		if f, err = t.inspect(ctx, s); err == nil && f.due {
			err = h.tables.still(ctx, s)
		}
		return err
	})
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	return f, err
}

// skip counts and lists a table that something is wrong with, and logs it the
// first time and whenever the reason changes.
func (h *handler) skip(name string, class reason, text string, list *[]note) {
	h.metrics.skip(h.jobType, class)
	*list = append(*list, note{table: name, class: class, text: text})
	if h.notices.set(name, text) {
		h.log.Warn("something is wrong with a Lance table", "job_type", h.jobType, "table", name, "class", string(class), "reason", text)
	}
}

// forget drops what is remembered of tables that are no more.
func (h *handler) forget(tables []entry) {
	names := make(map[string]bool, len(tables))
	for _, e := range tables {
		names[encodeID(e.id)] = true
	}
	exists := func(name string) bool { return names[name] }
	h.backoff.keep(exists)
	h.notices.keep(exists)
	h.runNotices.keep(exists)
	h.observer.keep(exists)
	h.tables.keep(exists)
}
