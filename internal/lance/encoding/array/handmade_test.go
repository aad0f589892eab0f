package array

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

var (
	update   = flag.Bool("update", false, "write testdata/handmade and testdata/written anew")
	folder   = flag.String("rewrite", "", "folder of files whose rows are to be written anew")
	pageSize = flag.Int64("pagesize", 0, "bytes of values in a page of them")
)

// handmade files hold what no writer that can be had writes. Lance reads those that
// check.py names; see testdata/README.md.
var handmade = map[string]func(testing.TB) (*fileSpec, arrow.RecordBatch){
	"packed":   packedFile,
	"texts":    textsFile,
	"homes":    homesFile,
	"constant": constantFile,
}

// sheet puts a file and its rows together, column by column.
type sheet struct {
	tb     testing.TB
	file   *fileSpec
	fields []arrow.Field
	arrays []arrow.Array
	schema []*pb.Field
}

func newSheet(tb testing.TB, rows int) *sheet {
	return &sheet{tb: tb, file: &fileSpec{rows: uint64(rows)}}
}

func (s *sheet) add(name, logical string, a arrow.Array, c ...columnSpec) {
	s.fields = append(s.fields, arrow.Field{Name: name, Type: a.DataType(), Nullable: true})
	s.arrays = append(s.arrays, a)
	s.schema = append(s.schema, pbField(name, logical, -1))
	s.file.columns = append(s.file.columns, c...)
}

func (s *sheet) done() (*fileSpec, arrow.RecordBatch) {
	s.file.schema = schemaOf(s.schema...)
	return s.file, array.NewRecordBatch(arrow.NewSchema(s.fields, nil), s.arrays, int64(s.file.rows))
}

// integers makes an array of integers from their bits.
func integers(typ arrow.DataType, values []uint64, valid []bool) arrow.Array {
	bits, _ := fixedBits(typ)
	w := int(bits / 8)
	data := make([]byte, len(values)*w)
	nulls := 0
	for i, v := range values {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		copy(data[i*w:], b[:w])
		if valid != nil && !valid[i] {
			nulls++
		}
	}
	var bitmap *memory.Buffer
	if nulls > 0 {
		bitmap = memory.NewBufferBytes(validBits(valid))
	}
	return array.MakeFromData(array.NewData(typ, len(values), []*memory.Buffer{bitmap, memory.NewBufferBytes(data)}, nil, nulls, 0))
}

// pagesOf cuts rows into pages of different sizes.
func pagesOf(n int) [][2]int {
	cuts := []int{0, n / 7, n/7 + 1, n}
	var out [][2]int
	for i := 1; i < len(cuts); i++ {
		out = append(out, [2]int{cuts[i-1], cuts[i]})
	}
	return out
}

func arrowFile(tb testing.TB, rec arrow.RecordBatch) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(rec.Schema()), ipc.WithZstd())
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// TestHandmade reads the files made here, and makes sure that those which Lance was
// asked about are the same ones.
func TestHandmade(t *testing.T) {
	for name, make := range handmade {
		t.Run(name, func(t *testing.T) {
			spec, rec := make(t)
			raw := spec.write(t)
			path := filepath.Join("testdata", "handmade", name+".lance")
			if *update {
				if err := os.WriteFile(path, raw, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join("testdata", "handmade", name+".arrow"), arrowFile(t, rec), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if on, err := os.ReadFile(path); err != nil || !bytes.Equal(on, raw) {
				t.Errorf("%s is not what the test makes (-update writes it): %v", path, err)
			}
			file := openBytes(t, raw)
			next := 0
			for i, f := range rec.Schema().Fields() {
				field := numbered(f, &next)
				if name == "texts" && f.Name == "bytes" {
					next++
				}
				r, err := Open(file, field)
				if err != nil {
					t.Fatal(err)
				}
				want := cells(rec.Column(i))
				n := r.Rows()
				src := &source{b: raw}
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				for k := range 300 {
					from := rng.Uint64N(n + 1)
					to := from + rng.Uint64N(n-from+1)
					if k == 0 {
						from, to = 0, n
					}
					a, err := r.Read(t.Context(), src, from, to, enough)
					if err != nil {
						t.Fatalf("%s: %v", f.Name, err)
					}
					check(t, fmt.Sprintf("%s, rows %d to %d", f.Name, from, to), a, want[from:to])
				}
			}
		})
	}
}
