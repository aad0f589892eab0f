// Package slab lends memory to those who encode page after page. A page takes several buffers of some megabytes each, and is
// gone as soon as it is written: with new ones for each page, clearing them, growing them and collecting them would cost as
// much as encoding does.
package slab

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// Element is what slabs are made of.
type Element interface{ byte | uint16 | int64 }

const (
	// least is the smallest slab that is kept, in bytes, as a power of two: the allocator is good at smaller ones.
	least = 14
	// most is the largest one.
	most = 28
	// steps of sizes between two powers of two, so that not much is lent beyond what was asked for.
	steps = 4
	// maxIdle is how many bytes are kept that nobody uses. Those that were given back first go first.
	maxIdle = 8 << 20
)

// idle are the slabs that nobody uses, the last one given back last. They are kept as long as somebody holds them.
var idle struct {
	sync.Mutex
	holders int
	slabs   [][]byte
	bytes   int
}

// Hold has slabs that are given back kept for others until release is called. Without anybody who does they
// are garbage.
func Hold() (release func()) {
	idle.Lock()
	defer idle.Unlock()
	idle.holders++
	return sync.OnceFunc(func() {
		idle.Lock()
		defer idle.Unlock()
		if idle.holders--; idle.holders == 0 {
			idle.slabs, idle.bytes = nil, 0
		}
	})
}

// size is how large a slab for n bytes is; ok is false when that is none that would be kept.
func size(n int) (room int, ok bool) {
	if n <= 1<<least || n > 1<<most {
		return n, false
	}
	log := bits.Len(uint(n-1)) - 1 // 1<<log < n <= 2<<log
	step := 1 << log / steps
	return 1<<log + (n-1<<log+step-1)/step*step, true
}

// Get returns an empty slice with room for n elements at least, whose memory may have been used before.
func Get[T Element](n int) []T {
	each := int(unsafe.Sizeof(*new(T)))
	if n <= 0 || n > 1<<most {
		return make([]T, 0, max(n, 0))
	}
	room, ok := size(n * each)
	if !ok {
		return make([]T, 0, n)
	}
	b := find(room)
	if b == nil {
		b = make([]byte, room)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/each)[:0]
}

// find takes an idle slab of a size, or one that is not much larger.
func find(room int) []byte {
	idle.Lock()
	defer idle.Unlock()
	for i := len(idle.slabs) - 1; i >= 0; i-- {
		if b := idle.slabs[i]; len(b) >= room && len(b)-room <= room/steps {
			idle.slabs = slices.Delete(idle.slabs, i, i+1)
			idle.bytes -= len(b)
			return b
		}
	}
	return nil
}

// Put gives back what Get returned. Nobody may use its memory any more. Slices of other sizes are left to the garbage collector.
func Put[T Element](s []T) {
	bytes := cap(s) * int(unsafe.Sizeof(*new(T)))
	if room, ok := size(bytes); !ok || room != bytes {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), bytes)
	idle.Lock()
	defer idle.Unlock()
	if idle.holders == 0 {
		return
	}
	idle.slabs = append(idle.slabs, b)
	idle.bytes += bytes
	for idle.bytes > maxIdle {
		idle.bytes -= len(idle.slabs[0])
		idle.slabs = slices.Delete(idle.slabs, 0, 1)
	}
}

// Grow makes room for n more elements. What s had is given back if it is not large enough.
func Grow[T Element](s []T, n int) []T {
	if n <= cap(s)-len(s) {
		return s
	}
	longer := append(Get[T](len(s)+n), s...)
	Put(s)
	return longer
}
