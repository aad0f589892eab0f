package table

import "encoding/binary"

// flat reads flatbuffers that may hold anything: whatever leads outside of b reads
// as zero, and as a table without fields.
type flat struct{ b []byte }

// flatTable is a table at a position of its buffer; 0 stands for none.
type flatTable struct {
	flat
	pos int
}

func (f flat) u32(at int) uint32 {
	if at < 0 || at > len(f.b)-4 {
		return 0
	}
	return binary.LittleEndian.Uint32(f.b[at:])
}

func (f flat) u16(at int) uint16 {
	if at < 0 || at > len(f.b)-2 {
		return 0
	}
	return binary.LittleEndian.Uint16(f.b[at:])
}

// i64At reads a field of a struct.
func (f flat) i64At(at int) int64 {
	if at < 0 || at > len(f.b)-8 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(f.b[at:]))
}

func (f flat) root() flatTable { return f.tableAt(0) }

// tableAt follows the offset that lies at a position.
func (f flat) tableAt(at int) flatTable {
	off := int64(f.u32(at))
	if off == 0 || int64(at)+off > int64(len(f.b)-4) {
		return flatTable{f, 0}
	}
	return flatTable{f, at + int(off)}
}

func (t flatTable) ok() bool { return t.pos != 0 }

// field is the position of a table's field, 0 when it has its default.
func (t flatTable) field(i int) int {
	if !t.ok() {
		return 0
	}
	vtable := int64(t.pos) - int64(int32(t.u32(t.pos)))
	if vtable < 0 || vtable > int64(len(t.b)-4) {
		return 0
	}
	at := 4 + 2*i
	if at+2 > int(t.u16(int(vtable))) {
		return 0
	}
	off := t.u16(int(vtable) + at)
	if off == 0 {
		return 0
	}
	return t.pos + int(off)
}

func (t flatTable) uint8(i int) uint8 {
	at := t.field(i)
	if at <= 0 || at >= len(t.b) {
		return 0
	}
	return t.b[at]
}

func (t flatTable) int32(i int) int32 {
	if at := t.field(i); at > 0 {
		return int32(t.u32(at))
	}
	return 0
}

func (t flatTable) int64(i int) int64 {
	if at := t.field(i); at > 0 {
		return t.i64At(at)
	}
	return 0
}

func (t flatTable) table(i int) flatTable {
	if at := t.field(i); at > 0 {
		return t.tableAt(at)
	}
	return flatTable{t.flat, 0}
}

// vector is where a vector's elements begin, and how many it says there are.
func (t flatTable) vector(i int) (at int, n uint32) {
	field := t.field(i)
	if field <= 0 {
		return 0, 0
	}
	off := int64(t.u32(field))
	if off == 0 || int64(field)+off > int64(len(t.b)-4) {
		return 0, 0
	}
	at = field + int(off)
	return at + 4, t.u32(at)
}
