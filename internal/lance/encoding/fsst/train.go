package fsst

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

const (
	// sampleBytes is about how much of the strings a table is made from, pieceBytes the most of one string.
	sampleBytes = 32 << 10
	pieceBytes  = 512
	// rounds is how often a table is made from what the one before it did to the sample.
	rounds = 5
	// maxCodes is the most symbols: 255 is the escape.
	maxCodes = 255
	// Codes below pseudo stand for a byte without a symbol while a table is made.
	pseudo   = 256
	allCodes = pseudo + maxCodes
	// single is how much more the gain of a symbol of one byte counts: without one, its byte takes two.
	single = 8
)

// Train makes a symbol table for strings: data[offsets[0]:offsets[1]] and so on. It is the same for the same strings.
// It returns nil when the sample does not become shorter.
func Train(data []byte, offsets []int64) *Encoder {
	t := trainers.Get().(*trainer)
	defer trainers.Put(t)
	t.take(data, offsets)
	if len(t.bytes) == 0 {
		return nil
	}
	var best []symbol
	least := len(t.bytes)
	t.symbols = t.symbols[:0]
	for round := range rounds + 1 {
		t.index.build(t.symbols)
		size := t.count(round < rounds)
		if size < least {
			best, least = append(best[:0], t.symbols...), size
		}
		if round < rounds {
			t.choose(round)
		}
	}
	if len(best) == 0 {
		return nil
	}
	e := &Encoder{symbols: best, ratio: float64(least) / float64(len(t.bytes))}
	e.index.build(best)
	e.index.finish()
	return e
}

// symbol is a string of 1 to 8 bytes.
type symbol struct {
	value  uint64
	length int
}

// trainer is the memory for making a table.
type trainer struct {
	bytes   []byte // of the sample
	ends    []int
	symbols []symbol
	index   index
	once    [allCodes]uint32
	pairs   [allCodes][allCodes]uint16
	found   []candidate
}

type candidate struct {
	symbol
	gain uint64
}

var trainers = sync.Pool{New: func() any { return new(trainer) }}

// take makes the sample: all strings when they are few, or some at places that
// look random, so that they don't fall into step with the data.
func (t *trainer) take(data []byte, offsets []int64) {
	t.bytes, t.ends = t.bytes[:0], t.ends[:0]
	n := len(offsets) - 1
	if n <= 0 {
		return
	}
	add := func(s []byte) {
		t.bytes = append(t.bytes, s...)
		t.ends = append(t.ends, len(t.bytes))
	}
	total := offsets[n] - offsets[0]
	if total <= sampleBytes {
		for i := range n {
			add(data[offsets[i]:offsets[i+1]])
		}
		return
	}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(total)))
	// Places among the bytes, not the strings, so that long strings count for what they weigh.
	for len(t.bytes) < sampleBytes {
		at := offsets[0] + rng.Int64N(total)
		i, exact := slices.BinarySearch(offsets, at)
		if !exact {
			i--
		}
		for i < n-1 && offsets[i+1] <= at {
			i++ // strings of no bytes begin at the same place
		}
		s := data[offsets[i]:offsets[i+1]]
		if len(s) > pieceBytes {
			from := min(int(at-offsets[i]), len(s)-pieceBytes)
			s = s[from : from+pieceBytes]
		}
		add(s)
	}
}

// count compresses the sample and counts codes, and pairs of codes, for the next table. It returns the size.
func (t *trainer) count(more bool) int {
	clear(t.once[:])
	if more {
		for i := range t.pairs {
			clear(t.pairs[i][:])
		}
	}
	size, start := 0, 0
	for _, end := range t.ends {
		last := -1
		for i := start; i < end; {
			code, length := t.index.longest(word(t.bytes, i, end), end-i)
			size++
			if code < pseudo {
				size++
			}
			t.once[code]++
			first := int(t.bytes[i])
			if length > 1 {
				t.once[first]++ // so that it can come back
			}
			if more && last >= 0 {
				bump(&t.pairs[last][code])
				if length > 1 {
					bump(&t.pairs[last][first])
				}
			}
			last = code
			i += length
		}
		start = end
	}
	return size
}

func bump(n *uint16) {
	if *n < 1<<16-1 {
		*n++
	}
}

// word is up to 8 bytes from i on, zeros behind end.
func word(b []byte, i, end int) uint64 {
	if i+8 <= len(b) {
		w := b[i : i+8 : i+8]
		v := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		if left := end - i; left < 8 {
			v &= 1<<(8*left) - 1
		}
		return v
	}
	var v uint64
	for k := 0; k < 8 && i+k < end; k++ {
		v |= uint64(b[i+k]) << (8 * k)
	}
	return v
}

// of is the symbol of a code.
func (t *trainer) of(code int) symbol {
	if code < pseudo {
		return symbol{uint64(code), 1}
	}
	return t.symbols[code-pseudo]
}

// choose makes the next table of those symbols, old ones and pairs of them, that save most.
func (t *trainer) choose(round int) {
	found := t.found[:0]
	// What is rare is left out, the more so the better the table already is.
	rare := uint64(5 * (round + 1) / (rounds + 1))
	codes := pseudo + len(t.symbols)
	for a := range codes {
		n := uint64(t.once[a])
		if n == 0 {
			continue
		}
		s := t.of(a)
		if s.length == 1 {
			found = append(found, candidate{s, n * single})
		} else if n > rare {
			found = append(found, candidate{s, n * uint64(s.length)})
		}
		if s.length == MaxSymbol {
			continue
		}
		for b, m := range t.pairs[a][:codes] {
			if m == 0 || uint64(m) <= rare {
				continue
			}
			next := t.of(b)
			p := symbol{s.value | next.value<<(8*s.length), min(s.length+next.length, MaxSymbol)}
			found = append(found, candidate{p, uint64(m) * uint64(p.length)})
		}
	}
	slices.SortFunc(found, bySymbol)
	merged := found[:0]
	for _, c := range found {
		if k := len(merged) - 1; k >= 0 && merged[k].symbol == c.symbol {
			merged[k].gain += c.gain
		} else {
			merged = append(merged, c)
		}
	}
	t.symbols = t.symbols[:0]
	t.index.clear()
	for len(merged) > 0 && len(t.symbols) < maxCodes {
		// Hardly ever more than the best few are looked at, so that the others need not be in order.
		few := best(merged)
		slices.SortFunc(merged[:few], byGain)
		for _, c := range merged[:few] {
			if len(t.symbols) == maxCodes {
				break
			}
			if t.index.add(c.symbol, len(t.symbols)) {
				t.symbols = append(t.symbols, c.symbol)
			}
		}
		merged = merged[few:]
	}
	t.found = found[:0]
}

// best moves those that save most to the front, somewhat more than a table takes where there are as many, and returns how
// many they are.
func best(all []candidate) int {
	var counts [65]int
	for _, c := range all {
		counts[bits.Len64(c.gain)]++
	}
	least, n := len(counts), 0
	for least > 0 && n < 2*maxCodes {
		least--
		n += counts[least]
	}
	at := 0
	for i, c := range all {
		if bits.Len64(c.gain) >= least {
			all[at], all[i] = c, all[at]
			at++
		}
	}
	return at
}

// bySymbol puts equal symbols next to each other.
func bySymbol(a, b candidate) int {
	switch {
	case a.value < b.value:
		return -1
	case a.value > b.value:
		return 1
	}
	return a.length - b.length
}

// byGain puts first what saves most.
func byGain(a, b candidate) int {
	switch {
	case a.gain > b.gain:
		return -1
	case a.gain < b.gain:
		return 1
	}
	return bySymbol(a, b)
}
