package slab

import (
	"testing"
	"unsafe"
)

func TestSize(t *testing.T) {
	for _, n := range []int{1<<least + 1, 20_000, 24 << 10, 24<<10 + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1<<23 + 1<<19, 1<<most - 1, 1 << most} {
		room, ok := size(n)
		if !ok || room < n || room > n+n/steps+1 {
			t.Errorf("%d: %d, %v", n, room, ok)
		}
		if r, ok := size(room); !ok || r != room {
			t.Errorf("%d: %d for that of its size of %d", n, r, room)
		}
	}
	for _, n := range []int{0, 1, 1 << least, 1<<most + 1} {
		if _, ok := size(n); ok {
			t.Errorf("%d is kept", n)
		}
	}
}

func TestHold(t *testing.T) {
	same := func() bool {
		a := Get[int64](100_000)[:1]
		Put(a)
		b := Get[byte](800_000)[:1]
		return unsafe.Pointer(&a[0]) == unsafe.Pointer(&b[0])
	}
	if same() {
		t.Error("kept although nobody holds any")
	}
	one, two := Hold(), Hold()
	if !same() {
		t.Error("not kept")
	}
	one()
	one()
	if !same() {
		t.Error("not kept although the other one holds them")
	}
	for range 2 * maxIdle >> 20 {
		defer Put(Get[byte](1 << 20))
	}
	if two(); len(idle.slabs) > 0 {
		t.Error("kept when nobody holds them any more")
	}
}

func TestIdle(t *testing.T) {
	defer Hold()()
	var all [][]byte
	for range 2 * maxIdle >> 20 {
		all = append(all, Get[byte](1<<20))
	}
	for _, b := range all {
		Put(b)
	}
	if idle.bytes != maxIdle || len(idle.slabs) != maxIdle>>20 {
		t.Errorf("%d bytes in %d slabs", idle.bytes, len(idle.slabs))
	}
}

func TestGet(t *testing.T) {
	for _, n := range []int{0, 1, 10_000, 1 << 20} {
		b := Get[int64](n)
		if len(b) != 0 || cap(b) < n {
			t.Fatalf("%d: %d of %d", n, len(b), cap(b))
		}
		b = append(b, make([]int64, n)...)
		c := Grow(b[:n], n+1)
		if len(c) != n || cap(c) < 2*n+1 {
			t.Fatalf("%d grown: %d of %d", n, len(c), cap(c))
		}
		Put(c)
	}
	Put(make([]byte, 10_001)) // none of ours
	Put[byte](nil)
}

func TestGrowKeeps(t *testing.T) {
	b := Get[uint16](5000)
	for i := range 40_000 {
		b = append(Grow(b, 1), uint16(i))
	}
	for i, x := range b {
		if x != uint16(i) {
			t.Fatalf("%d at %d", x, i)
		}
	}
}

func TestArena(t *testing.T) {
	for _, a := range []*Arena{nil, new(Arena)} {
		x, y := a.Bytes(10_000), a.Bytes(10_000)
		x, y = x[:10_000], y[:10_000]
		x[0], y[0] = 1, 2
		if x[0] != 1 || len(a.Offsets(7)) != 7 {
			t.Fatal("slabs that share memory")
		}
		if a != nil {
			a.Free()
		}
	}
	defer Hold()()
	a := new(Arena)
	if n := testing.AllocsPerRun(100, func() {
		a.Bytes(1 << 20)
		a.Offsets(1 << 17)
		a.Free()
	}); n > 0 {
		t.Errorf("%.1f allocations", n)
	}
}
