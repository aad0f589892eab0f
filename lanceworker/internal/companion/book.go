package companion

import (
	"container/list"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
	"google.golang.org/protobuf/proto"
)

const (
	// maxObjects and maxBytes bound a book.
	maxObjects = 10_000
	maxBytes   = 64 << 20
	// reportObjects and reportBytes bound one message.
	reportObjects = 500
	reportBytes   = 1 << 20
)

// book keeps the newest observation of each object, in the order in which they
// were made. The zero value is empty.
type book struct {
	pages map[string]*list.Element
	// order has *page values, the oldest first.
	order list.List
	last  uint64
	bytes int
	// limits other than the usual ones, for tests.
	objects, size int
}

type page struct {
	key     string
	number  uint64
	jobType string
	seen    *plugin_pb.ObjectObservation
	bytes   int
}

func bookKey(id []string) string { return strings.Join(id, "\x1f") }

func (b *book) put(jobType string, o *plugin_pb.ObjectObservation) {
	if b.pages == nil {
		b.pages = make(map[string]*list.Element)
	}
	b.last++
	p := &page{key: bookKey(o.GetObjectId()), number: b.last, jobType: jobType, seen: o}
	p.bytes = proto.Size(o) + 2*len(p.key)
	if old, ok := b.pages[p.key]; ok {
		b.remove(old)
	}
	b.pages[p.key] = b.order.PushBack(p)
	b.bytes += p.bytes
	for b.order.Len() > b.limit(b.objects, maxObjects) || b.bytes > b.limit(b.size, maxBytes) && b.order.Len() > 1 {
		b.remove(b.order.Front())
	}
}

func (b *book) limit(own, usual int) int {
	if own > 0 {
		return own
	}
	return usual
}

func (b *book) remove(e *list.Element) {
	p := b.order.Remove(e).(*page)
	delete(b.pages, p.key)
	b.bytes -= p.bytes
}

func (b *book) keep(exists func(id []string) bool) {
	for e := b.order.Front(); e != nil; {
		next := e.Next()
		if !exists(e.Value.(*page).seen.GetObjectId()) {
			b.remove(e)
		}
		e = next
	}
}

// after is a report of observations that came after the given one, and which is
// the last of them; nil when there are none. A report is of one job type.
func (b *book) after(number uint64) (*plugin_pb.WorkerObservations, uint64) {
	e := b.order.Back()
	if e == nil || e.Value.(*page).number <= number {
		return nil, number
	}
	for prev := e.Prev(); prev != nil && prev.Value.(*page).number > number; prev = e.Prev() {
		e = prev
	}
	report := &plugin_pb.WorkerObservations{JobType: e.Value.(*page).jobType}
	bytes := 0
	for ; e != nil; e = e.Next() {
		p := e.Value.(*page)
		bytes += p.bytes
		n := len(report.Observations)
		if p.jobType != report.JobType || n == reportObjects || n > 0 && bytes > reportBytes {
			break
		}
		report.Observations = append(report.Observations, p.seen)
		number = p.number
	}
	return report, number
}
