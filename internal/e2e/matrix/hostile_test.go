package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/e2e/matrix"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/scan"
	"github.com/seaweedfs/seaweed-lance/internal/lance/table"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	// batchBytes is what a batch may take in these tests.
	batchBytes = 4 << 20
	// most is what reading one damaged table may allocate beside a multiple of its size: batches, the working
	// memory beside them, for two threads, and what is constant.
	most = 8 * batchBytes
	// times is the multiple of the table's size.
	times = 64
	// patience is how long one damaged table may take.
	patience = 20 * time.Second
)

// damages is how many are done of each kind.
func damages() int {
	if full() {
		return 10_000
	}
	return 1_000
}

// victim is a table in memory.
type victim struct {
	name string
	m    ram
	want *matrix.Want
	// blobs: the bytes of blobs are there to be read.
	blobs bool
	// files that are damaged: data files, and now and then a manifest.
	files, manifests []string
	size             int
}

func victims(t *testing.T) []victim {
	t.Helper()
	var out []victim
	for _, f := range committed(t) {
		m, err := load(filepath.Join(f.dir, "t"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := matrix.ReadFile(filepath.Join(f.dir, "want.arrow"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(filepath.Join(f.dir, "bytes.arrow"))
		v := victim{name: filepath.Base(f.dir) + " " + f.name, m: m, want: want, blobs: err == nil}
		for name, b := range m {
			v.size += len(b)
			switch {
			case len(b) == 0:
			case strings.HasPrefix(name, "data/"):
				v.files = append(v.files, name)
			case strings.HasSuffix(name, ".manifest"):
				v.manifests = append(v.manifests, name)
			}
		}
		slices.Sort(v.files)
		slices.Sort(v.manifests)
		if len(v.files) > 0 {
			out = append(out, v)
		}
	}
	return out
}

// TestCut cuts files short at random places: an error, or exactly what was there.
func TestCut(t *testing.T) {
	d := newDamage(t, 1, true)
	for range damages() {
		v, file := d.pick()
		b := v.m[file]
		at := d.rng.IntN(len(b))
		d.read(t, fmt.Sprintf("%s: %s cut at %d of %d", v.name, file, at, len(b)), v, v.m.with(file, b[:at:at]))
	}
	d.report(t)
}

// TestFlip flips a bit at random places: an error or some values, no more memory or time than is due.
func TestFlip(t *testing.T) {
	d := newDamage(t, 2, false)
	for range damages() {
		v, file := d.pick()
		b := slices.Clone(v.m[file])
		bit := d.rng.IntN(8 * len(b))
		b[bit/8] ^= 1 << (bit % 8)
		d.read(t, fmt.Sprintf("%s: %s with bit %d of byte %d flipped", v.name, file, bit%8, bit/8), v, v.m.with(file, b))
	}
	d.report(t)
}

// TestOverwrite puts numbers that are far too large, too small or off by one where lengths, counts and
// offsets may be.
func TestOverwrite(t *testing.T) {
	d := newDamage(t, 3, false)
	for range damages() {
		v, file := d.pick()
		b := slices.Clone(v.m[file])
		width := min(1<<d.rng.IntN(4), len(b))
		at := d.rng.IntN(len(b) - width + 1)
		value := []uint64{0, 1, math.MaxUint64, math.MaxInt64, math.MaxInt32, 1 << 31, 1 << 20, 0x7F7F7F7F7F7F7F7F}[d.rng.IntN(8)]
		for i := range width {
			b[at+i] = byte(value >> (8 * i))
		}
		if d.rng.IntN(4) == 0 {
			b = slices.Clone(v.m[file])
			b[at] += byte(1 - 2*d.rng.IntN(2))
		}
		d.read(t, fmt.Sprintf("%s: %s with %x at %d", v.name, file, b[at:at+width], at), v, v.m.with(file, b))
	}
	d.report(t)
}

// damage does harm to tables and reads them.
type damage struct {
	rng     *rand.Rand
	victims []victim
	// exact: what is read without an error must be what was there.
	exact bool
	// kinds counts errors by their class.
	kinds map[string]int
	// spent is the most that was allocated, and by which table.
	spent   uint64
	spender string
}

func newDamage(t *testing.T, seed uint64, exact bool) *damage {
	return &damage{rng: rand.New(rand.NewPCG(4, seed)), victims: victims(t), exact: exact, kinds: map[string]int{}}
}

// pick chooses a table and one of its files.
func (d *damage) pick() (victim, string) {
	v := d.victims[d.rng.IntN(len(d.victims))]
	if d.rng.IntN(20) == 0 {
		return v, v.manifests[d.rng.IntN(len(v.manifests))]
	}
	return v, v.files[d.rng.IntN(len(v.files))]
}

func (d *damage) report(t *testing.T) {
	t.Logf("%v; at most %d bytes were allocated: %s", d.kinds, d.spent, d.spender)
}

// read reads a damaged table, whole or in part.
func (d *damage) read(t *testing.T, where string, v victim, m ram) {
	t.Helper()
	o := scan.Options{BatchBytes: batchBytes, ReadAhead: batchBytes, BlobBytes: v.blobs && !d.exact && d.rng.IntN(2) == 0}
	from, n := int64(0), v.want.Rows+1
	if d.rng.IntN(2) == 0 {
		from = d.rng.Int64N(v.want.Rows + 1)
		n = d.rng.Int64N(v.want.Rows + 1)
		o.BatchRows = 64
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watch := time.AfterFunc(3*patience, func() { panic("it hangs: " + where) })
	defer watch.Stop()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := d.devour(ctx, v, m, from, n, o)
	runtime.ReadMemStats(&after)
	spent := after.TotalAlloc - before.TotalAlloc
	if spent > d.spent {
		d.spent, d.spender = spent, where
	}
	if most := uint64(most + times*v.size); spent > most {
		t.Errorf("%s: %d bytes were allocated, more than %d (%v)", where, spent, most, err)
	}
	k := kind(err)
	d.kinds[k]++
	switch {
	case ctx.Err() != nil:
		t.Errorf("%s: %v", where, ctx.Err())
	case errors.Is(err, matrix.ErrDiffers):
		t.Errorf("%s: read without an error: %v", where, err)
	case k == "other":
		t.Errorf("%s: an error of no class: %v", where, err)
	}
}

func (d *damage) devour(ctx context.Context, v victim, m ram, from, n int64, o scan.Options) error {
	t, err := table.Open(ctx, m)
	if err != nil {
		return err
	}
	if d.exact {
		_, err := matrix.Compare(ctx, t, v.want, from, n, o)
		return err
	}
	limit := uint64(n)
	o.Offset, o.Limit = uint64(from), &limit
	s, err := scan.Open(ctx, t, o)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = matrix.Touch(b)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// kind is the class of an error; every one must have one.
func kind(err error) string {
	if err == nil {
		return "no error"
	}
	for name, class := range map[string]error{
		"corrupt": column.ErrCorrupt, "table corrupt": table.ErrCorrupt, "unsupported": column.ErrUnsupported,
		"limit": column.ErrLimit, "refused": table.ErrRefused, "no such object": objects.ErrNotFound, "no table": table.ErrNoTable,
		"read wrongly": matrix.ErrDiffers,
	} {
		if errors.Is(err, class) {
			return name
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "too short"
	}
	return "other"
}
