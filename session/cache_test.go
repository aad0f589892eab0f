package session

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

func always() bool { return true }

// What a cache holds stays within its limit, and what was used last stays.
func TestCacheIsBounded(t *testing.T) {
	c := newCache(20_000)
	r := rand.New(rand.NewPCG(1, 2))
	hot := cacheKey{"hot", "name", "token"}
	c.put(hot, "hot", 100, always)
	for i := range 2000 {
		c.put(cacheKey{fmt.Sprint("place ", r.IntN(20)), fmt.Sprint("name ", i), "token"}, i, r.Int64N(3000), always)
		if c.get(hot) != "hot" {
			t.Fatalf("the entry used last went at %d", i)
		}
		x := c.stats()
		if x.Bytes > x.Limit {
			t.Fatalf("%+v", x)
		}
	}
	if x := c.stats(); x.Evicted == 0 || x.Evicted+int64(x.Entries) != 2001 || x.Hits != 2000 || x.Misses != 0 {
		t.Errorf("%+v", x)
	}
	for i := range 20 {
		c.forget(fmt.Sprint("place ", i))
	}
	if x := c.stats(); x.Entries != 1 || c.get(hot) == nil {
		t.Errorf("%+v after all but one place was forgotten", x)
	}
	c.forget("hot")
	if x := c.stats(); x.Bytes != 0 || x.Entries != 0 || len(c.mu.places) != 0 || c.mu.order.Len() != 0 {
		t.Errorf("%+v", x)
	}
	c.forget("nowhere")
}

func TestCacheKeys(t *testing.T) {
	c := newCache(1 << 20)
	k := cacheKey{"place", "name", "token"}
	c.put(k, 1, 10, always)
	for _, other := range []cacheKey{{"place2", "name", "token"}, {"place", "name2", "token"}, {"place", "name", "token2"}} {
		if c.get(other) != nil {
			t.Errorf("%v is served from %v", other, k)
		}
	}
	before := c.stats().Bytes
	c.put(k, 2, 10, always) // read twice
	if x := c.stats(); c.get(k) != 2 || x.Bytes != before || x.Entries != 1 {
		t.Errorf("%+v", x)
	}
	c.put(cacheKey{"place", "late", "token"}, 1, 10, func() bool { return false })
	c.put(cacheKey{"place", "large", "token"}, 1, 1<<20, always)
	if x := c.stats(); x.Entries != 1 || x.Evicted != 0 {
		t.Errorf("%+v: something was kept that must not be", x)
	}
}

func TestCacheConcurrently(t *testing.T) {
	c := newCache(10_000)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(g)))
			for range 2000 {
				k := cacheKey{fmt.Sprint(r.IntN(5)), fmt.Sprint(r.IntN(20)), "t"}
				switch r.IntN(8) {
				case 0:
					c.forget(k.location)
				case 1:
					c.clear()
				case 2, 3:
					c.put(k, k.name, r.Int64N(1000), always)
				default:
					if v := c.get(k); v != nil && v != k.name {
						t.Errorf("%v has %v", k, v)
					}
				}
			}
		})
	}
	wg.Wait()
	if x := c.stats(); x.Bytes > x.Limit || x.Bytes < 0 {
		t.Errorf("%+v", x)
	}
	c.clear()
	if x := c.stats(); x.Bytes != 0 || x.Entries != 0 {
		t.Errorf("%+v", x)
	}
}

func TestRecent(t *testing.T) {
	r := newRecent[int](3)
	for i := range 3 {
		r.put(fmt.Sprint(i), i)
	}
	r.get("0")
	r.put("1", 11)
	r.put("3", 3) // "2" was not used for longest
	if _, ok := r.get("2"); ok || r.len() != 3 {
		t.Errorf("%d entries, 2 among them %v", r.len(), ok)
	}
	if v, ok := r.get("1"); v != 11 || !ok {
		t.Errorf("%d, %v", v, ok)
	}
	r.remove("1")
	r.remove("1")
	if _, ok := r.get("1"); ok || r.len() != 2 {
		t.Errorf("%d entries", r.len())
	}
	r.clear()
	if r.len() != 0 || r.order.Len() != 0 {
		t.Errorf("%d entries", r.len())
	}
}
