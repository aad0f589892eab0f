package array

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// benchRows of a batch: what a scan asks for.
const benchRows = 8192

// benchmark reads a file front to back in batches.
func benchmark(b *testing.B, f *fileSpec, field column.Field) {
	f.schema = &pb.Schema{}
	raw := f.write(b)
	r, err := Open(openBytes(b, raw), field)
	if err != nil {
		b.Fatal(err)
	}
	src := &source{b: raw}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	batches := 0
	for b.Loop() {
		src.spans = src.spans[:0]
		for from := uint64(0); from < r.Rows(); from += benchRows {
			a, err := r.Read(b.Context(), src, from, min(from+benchRows, r.Rows()), 64<<20)
			if err != nil {
				b.Fatal(err)
			}
			a.Release()
			batches++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(batches), "ns/batch")
}

func field(name string, t arrow.DataType) column.Field {
	next := 0
	return numbered(arrow.Field{Name: name, Type: t, Nullable: true}, &next)
}

func randomBytes(n int) []byte {
	rng := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = rng.Read(b)
	return b
}

func mostlyValid(n int) []byte {
	valid := make([]bool, n)
	for i := range valid {
		valid[i] = i%10 != 3
	}
	return validBits(valid)
}

func BenchmarkInts(b *testing.B) {
	const n = 1 << 20
	benchmark(b, &fileSpec{rows: n, columns: []columnSpec{{pages: []pageSpec{
		{n, noNulls(flatOf(64, 0)), [][]byte{randomBytes(n * 8)}}}}}}, field("i", arrow.PrimitiveTypes.Int64))
}

func BenchmarkIntsWithNulls(b *testing.B) {
	const n = 1 << 20
	benchmark(b, &fileSpec{rows: n, columns: []columnSpec{{pages: []pageSpec{
		{n, someNulls(flatOf(1, 0), flatOf(32, 1)), [][]byte{mostlyValid(n), randomBytes(n * 4)}}}}}}, field("i", arrow.PrimitiveTypes.Int32))
}

func BenchmarkBitPacked(b *testing.B) {
	const n = 1 << 20
	for _, w := range []uint64{7, 13, 27} {
		b.Run(fmt.Sprint(w), func(b *testing.B) {
			benchmark(b, &fileSpec{rows: n, columns: []columnSpec{{pages: []pageSpec{
				{n, packedBitsOf(w, 32, 0, true), [][]byte{randomBytes(int(n * w / 8))}}}}}}, field("i", arrow.PrimitiveTypes.Int32))
		})
	}
}

func BenchmarkTransposed(b *testing.B) {
	const n = 1 << 20
	benchmark(b, &fileSpec{rows: n, columns: []columnSpec{{pages: []pageSpec{
		{n, nonNegOf(13, 32, 0), [][]byte{randomBytes(n * 13 / 8)}}}}}}, field("i", arrow.PrimitiveTypes.Int32))
}

func BenchmarkVectors(b *testing.B) {
	const n, dim = 1 << 14, 128
	t := arrow.FixedSizeListOf(dim, arrow.PrimitiveTypes.Float32)
	benchmark(b, &fileSpec{rows: n, columns: []columnSpec{{pages: []pageSpec{
		{n, noNulls(fslOf(dim, noNulls(flatOf(32, 0)))), [][]byte{randomBytes(n * dim * 4)}}}}}}, field("v", t))
}

// manyStrings are n strings of about some bytes; every tenth may be null.
func manyStrings(n, size int, nulls bool) []*string {
	rng := rand.New(rand.NewPCG(1, 1))
	text := string(randomBytes(1 << 16))
	out := make([]*string, n)
	for i := range out {
		if nulls && i%10 == 3 {
			continue
		}
		at := rng.IntN(1<<16 - 2*size)
		s := text[at : at+rng.IntN(2*size)]
		out[i] = &s
	}
	return out
}

func BenchmarkStrings(b *testing.B) {
	const n = 1 << 18
	for _, nulls := range []bool{false, true} {
		b.Run(fmt.Sprint("nulls=", nulls), func(b *testing.B) {
			benchmark(b, &fileSpec{rows: n, columns: []columnSpec{{pages: []pageSpec{stringsPage(manyStrings(n, 40, nulls))}}}},
				field("s", arrow.BinaryTypes.String))
		})
	}
}

func BenchmarkFewStrings(b *testing.B) {
	const n = 1 << 20
	items := stringsPage(manyStrings(20, 10, false))
	items.enc.GetBinary().Ends = noNulls(flatOf(64, 1))
	items.enc.GetBinary().Bytes = flatOf(8, 2)
	keys := randomBytes(n)
	for i := range keys {
		keys[i] %= 21
	}
	benchmark(b, &fileSpec{rows: n, columns: []columnSpec{{pages: []pageSpec{
		{n, dictOf(noNulls(flatOf(8, 0)), items.enc, 20), append([][]byte{keys}, items.buffers...)}}}}}, field("s", arrow.BinaryTypes.String))
}

func BenchmarkLists(b *testing.B) {
	const n = 1 << 18
	rng := rand.New(rand.NewPCG(1, 1))
	ends := make([]uint64, n)
	var end uint64
	for i := range ends {
		end += rng.Uint64N(20)
		ends[i] = end
	}
	benchmark(b, &fileSpec{rows: n, columns: []columnSpec{
		{pages: []pageSpec{{n, listEncoding(noNulls(flatOf(64, 0)), end+1, end), [][]byte{u64s(ends...)}}}},
		{pages: []pageSpec{{end, noNulls(flatOf(32, 0)), [][]byte{randomBytes(int(end) * 4)}}}},
	}}, field("l", arrow.ListOf(arrow.PrimitiveTypes.Int32)))
}

// BenchmarkTinyPages has a page for each 16 rows.
func BenchmarkTinyPages(b *testing.B) {
	const n = 1 << 16
	c := columnSpec{}
	values := manyStrings(n, 10, true)
	for i := 0; i < n; i += 16 {
		c.pages = append(c.pages, stringsPage(values[i:i+16]))
	}
	benchmark(b, &fileSpec{rows: n, columns: []columnSpec{c}}, field("s", arrow.BinaryTypes.String))
}
