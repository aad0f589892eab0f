package scan

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seaweedfs/seaweed-lance/internal/lance/datafile"
)

const (
	// firstGroup and fullGroup are how many bytes are asked for together: not too much at
	// first, so that the first rows come soon;
	// the more the longer the store takes to answer.
	firstGroup = 4 << 20
	fullGroup  = 8 << 20
	// groupTasks bounds a group where tasks need few bytes.
	groupTasks = 64
	// groupsAhead is how many groups are under way before the reads prove too slow.
	groupsAhead = 4
	// lateShare is which part of the reads may come too late before more is read
	// ahead, and lateSample how many are looked at for that.
	lateShare, lateSample = 3, 8
)

// hold is a segment that a task needs.
type hold struct {
	src *source
	seg *segment
}

// ahead fetches what the coming tasks need, in groups of tasks: all that they need
// of a file, whatever the column, is asked for at once. One goroutine calls add and
// flush; the rest is safe for concurrent use.
type ahead struct {
	budget *budget
	limit  int64 // Options.ReadAhead
	waits  *waits
	late   int64 // of waits, at the last flush
	asked  int64
	loads  *sync.WaitGroup

	tasks []*task
	// needs are, for each file, what has to be fetched and for whom.
	needs map[*source]map[datafile.Span][]*task
	order []*source
	// shared are segments of earlier groups that this one needs, too.
	shared map[*segment]bool
	bytes  int64
	group  int64
}

func newAhead(limit int64, w *waits, loads *sync.WaitGroup) *ahead {
	return &ahead{budget: newBudget(min(groupsAhead*firstGroup, limit)), limit: limit, waits: w, loads: loads,
		needs: make(map[*source]map[datafile.Span][]*task), shared: make(map[*segment]bool), group: min(firstGroup, max(limit/2, 1))}
}

// waits counts how often bytes were asked for, and how often before they were there.
type waits struct{ asked, late atomic.Int64 }

// adapt looks further ahead, in larger groups, where the reads come too late.
func (a *ahead) adapt() {
	late, asked := a.waits.late.Load(), a.waits.asked.Load()
	if asked-a.asked < lateSample {
		return
	}
	if (late-a.late)*lateShare > asked-a.asked {
		a.group = min(a.group*2, max(a.limit/2, 1), fullGroup)
		a.budget.widen(groupsAhead*a.group, a.limit)
	}
	a.late, a.asked = late, asked
}

// add puts a task into the group; full tells that it is time to flush.
func (a *ahead) add(t *task) (full bool) {
	a.tasks = append(a.tasks, t)
	a.bytes += int64(t.to-t.from) * t.frag.rowBytes
	for _, c := range t.frag.columns {
		for _, p := range c {
			for _, x := range p.need(t.from, t.to) {
				a.need(t, p.src, x)
			}
		}
	}
	return a.bytes >= a.group || len(a.tasks) >= groupTasks
}

func (a *ahead) need(t *task, src *source, x datafile.Span) {
	if x.Size == 0 || src.check(x) != nil { // whoever reads it will say so
		return
	}
	if seg := src.use(x); seg != nil {
		t.holds = append(t.holds, hold{src, seg})
		a.shared[seg] = true
		return
	}
	if a.needs[src] == nil {
		a.needs[src] = make(map[datafile.Span][]*task)
		a.order = append(a.order, src)
	}
	users := a.needs[src][x]
	if n := len(users); n == 0 || users[n-1] != t {
		a.needs[src][x] = append(users, t)
	}
}

// flush starts to fetch what the group needs, as soon as there is room for it, and
// returns the group's tasks.
func (a *ahead) flush(ctx context.Context) ([]*task, error) {
	a.adapt()
	var own, total int64
	for seg := range a.shared {
		own += int64(seg.Size)
	}
	requests := make([][]*segment, len(a.order))
	for i, src := range a.order {
		spans := make([]datafile.Span, 0, len(a.needs[src]))
		for x := range a.needs[src] {
			spans = append(spans, x)
		}
		for _, seg := range join(spans, maxRequest) {
			if own+total+int64(seg.Size) > a.limit {
				continue // it is read when it is needed
			}
			total += int64(seg.Size)
			requests[i] = append(requests[i], seg)
		}
	}
	if total > 0 {
		// Tasks that need more than a group are fetched while others are decoded, too.
		a.budget.widen(groupsAhead*total, a.limit)
		if err := a.budget.acquire(ctx, total, own); err != nil {
			return nil, err
		}
	}
	for i, src := range a.order {
		a.start(ctx, src, requests[i])
	}
	tasks := a.tasks
	a.tasks, a.order, a.bytes = nil, nil, 0
	clear(a.needs)
	clear(a.shared)
	return tasks, nil
}

// start registers segments for the tasks that need them, and loads them.
func (a *ahead) start(ctx context.Context, src *source, segments []*segment) {
	for x, tasks := range a.needs[src] {
		seg := find(segments, x)
		if seg == nil {
			continue
		}
		for _, t := range tasks {
			seg.users++
			t.holds = append(t.holds, hold{src, seg})
		}
	}
	for _, seg := range segments {
		src.add(seg)
		a.loads.Add(1)
		go func() {
			defer a.loads.Done()
			src.load(ctx, seg)
		}()
	}
}

// release gives back what a task held.
func (a *ahead) release(t *task) {
	for _, h := range t.holds {
		if h.src.leave(h.seg) {
			a.budget.add(-int64(h.seg.Size))
		}
	}
	t.holds = nil
}
