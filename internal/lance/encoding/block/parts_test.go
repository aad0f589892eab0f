package block

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/slab"
)

// Values that were collected in parts are those that one block would have.
func TestParts(t *testing.T) {
	defer slab.Hold()()
	const n = 20_000
	rng := rand.New(rand.NewPCG(3, 1))
	all := sorts(n)
	fsl := func(n int32, e arrow.DataType) arrow.DataType { return arrow.FixedSizeListOf(n, e) }
	p := arrow.PrimitiveTypes
	rows := &Values{Kind: Struct, N: n, Fields: []*Values{all["i32 random"], all["bytes"], all["bool"]}, Limit: unlimited}
	for _, c := range []struct {
		v  *Values
		dt arrow.DataType
	}{
		{all["bool"], arrow.FixedWidthTypes.Boolean}, {all["u8 random"], p.Uint8}, {all["i64 random"], p.Int64}, {all["24 bits"], &arrow.FixedSizeBinaryType{ByteWidth: 3}},
		{all["short strings"], arrow.BinaryTypes.String}, {all["bytes"], arrow.BinaryTypes.LargeBinary}, {all["empty strings"], arrow.BinaryTypes.String},
		{all["vectors of 8"], fsl(8, p.Float32)}, {all["vectors of 8, nulls"], fsl(8, p.Float32)}, {all["lists of lists"], fsl(2, fsl(3, p.Uint16))},
		{rows, arrow.StructOf(arrow.Field{Name: "a", Type: p.Int32}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "c", Type: arrow.FixedWidthTypes.Boolean})},
	} {
		a, err := c.v.Array(c.dt, validity(n, rng), 0)
		if err != nil {
			t.Fatalf("%s: %v", c.dt, err)
		}
		shape, err := shapeOf(c.dt)
		if err != nil {
			t.Fatal(err)
		}
		var mem slab.Arena
		parts, most := NewParts(shape.empty(unlimited)), 1
		for range 3 { // memory is used again
			one := shape.empty(unlimited)
			for at := 0; at < n; {
				to := min(n, at+rng.IntN(most+1))
				for _, x := range []interface {
					AppendArray(arrow.Array, int, int) error
				}{one, parts} {
					if err := x.AppendArray(a, at, to); err != nil {
						t.Fatalf("%s: %v", c.dt, err)
					}
				}
				at = to
			}
			if parts.N() != n || parts.Held() < 0 {
				t.Fatalf("%s: %d values, %d bytes", c.dt, parts.N(), parts.Held())
			}
			whole := parts.Whole(&mem)
			if err := sameValues(whole, one); err != nil || !bytes.Equal(whole.Valid, one.Valid) {
				t.Fatalf("%s: %v", c.dt, err)
			}
			mem.Free()
			parts.Free()
			if parts.N() != 0 || parts.Held() != 0 {
				t.Fatalf("%s: %d values, %d bytes are left", c.dt, parts.N(), parts.Held())
			}
			most = most*40 + 1
		}
		if err := parts.AppendArray(a, 1, n+1); err == nil {
			t.Errorf("%s: more values than there are", c.dt)
		}
		if whole := parts.Whole(&mem); whole.N != 0 || whole.checkWhole() != nil {
			t.Errorf("%s: %d values, %v", c.dt, whole.N, whole.checkWhole())
		}
	}
}

// Strings compressed as they are cut come out like those that are cut when all are compressed.
func TestCutShortened(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	all := sorts(30_000)
	for _, name := range []string{"short strings", "sentences", "few strings", "mostly nothing", "bytes"} {
		for _, n := range []int{1, 2, 3, 500, 4096, 4097, 8192, 30_000} {
			v := &Values{Kind: Variable, N: n, Offsets: all[name].Offsets[:n+1], Data: all[name].Data}
			e := symbolsFor(all[name], EncodeOptions{Minor: 2, Hints: Hints{Compression: "fsst"}})
			if e == nil {
				t.Logf("%s: no symbols", name)
				break
			}
			aim := []int{0, 100, 4096, 20_000}[rng.IntN(4)]
			want, err := cutStrings(shorten(v, e), 4, aim, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, short, err := cutShortened(v, e, 4, aim, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Buffers[0], want.Buffers[0]) || !slices.Equal(got.Counts, want.Counts) || !slices.Equal(got.Sizes, want.Sizes) {
				t.Errorf("%d %s, aim %d: %d bytes in %d chunks, want %d in %d", n, name, aim, len(got.Buffers[0]), len(got.Counts), len(want.Buffers[0]), len(want.Counts))
			}
			if s := shorten(v, e); short != (s.stringBytes() < v.stringBytes()) {
				t.Errorf("%d %s: short is %v", n, name, short)
			}
		}
	}
}

// shorten compresses strings with a symbol table.
func shorten(v *Values, e *fsst.Encoder) *Values {
	s := &Values{Kind: Variable, N: v.N, Offsets: make([]int64, v.N+1)}
	s.Data = e.AppendStrings(nil, v.Data, v.Offsets, s.Offsets)
	return s
}
