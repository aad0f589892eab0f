package block

import "github.com/seaweedfs/seaweed-lance/internal/lance/pb"

// layers takes fixed-size lists apart: the dimension of each, from the outermost, with the bitmap of its items, and
// the items of the innermost.
func (v *Values) layers() (lists []*Values, leaf *Values) {
	for v.Kind == List {
		lists = append(lists, v)
		v = v.Items
	}
	return lists, v
}

// listsEnc is the encoding of lists around items.
func listsEnc(lists []*Values, items *pb.CompressiveEncoding) *pb.CompressiveEncoding {
	for i := len(lists) - 1; i >= 0; i-- {
		items = listEnc(lists[i].Dim, lists[i].Valid != nil, items)
	}
	return items
}

// listChunks writes fixed-size lists as their items, behind the bitmaps of those that can be null. A list is
// never divided between chunks, which leaves little to compress with.
func listChunks(v *Values) (*Chunks, error) {
	lists, leaf := v.layers()
	if leaf.Kind != Fixed {
		return nil, unsupported("fixed-size lists of %s", leaf.shape())
	}
	items, size := 1, 0 // size in bytes of eight lists
	for _, l := range lists {
		items *= l.Dim
		if l.Valid != nil {
			size += items
		}
	}
	bits := items * leaf.Bits
	size += bits
	if size > 8*maxWide/2 {
		return nil, tooWide(size / 8)
	}
	// Eight at least where bits are counted, so that chunks start with whole bytes.
	each := max(powerBelow(8*MaxChunkBytes/size), 2)
	if size%8 != 0 || bits%8 != 0 {
		each = max(each, 8)
	}
	c := &Chunks{Encoding: listsEnc(lists, flatEnc(leaf.Bits))}
	sizes := make([]int, 0, len(lists)+1)
	for at := 0; at < v.N; at += each {
		n := min(each, v.N-at)
		items, k := 1, 0
		sizes = sizes[:0]
		for _, l := range lists {
			items *= l.Dim
			if l.Valid == nil {
				continue
			}
			if len(c.Buffers) == k {
				c.Buffers = append(c.Buffers, nil)
			}
			have := len(c.Buffers[k])
			c.Buffers[k] = appendBits(c.Buffers[k], 8*have, l.Valid, at*items, n*items)
			sizes = append(sizes, len(c.Buffers[k])-have)
			k++
		}
		c.add(n, append(sizes, (n*bits+7)/8)...)
	}
	c.Buffers = append(c.Buffers, leaf.Data[:(leaf.N*leaf.Bits+7)/8])
	return c, nil
}

// Zippable tells whether fixed-size lists of plain values can lie one behind the other: each has to take whole bytes, and readers don't look for
// the bitmaps of single bits.
func Zippable(v *Values) bool {
	lists, leaf := v.layers()
	items, valid := 1, false
	for _, l := range lists {
		items *= l.Dim
		valid = valid || l.Valid != nil
	}
	return leaf.Kind != Fixed || items*leaf.Bits%8 == 0 && !(valid && leaf.Bits == 1)
}

// zipLists writes fixed-size lists one behind the other, each with the bitmaps of its items in front.
func zipLists(v *Values) (*Zipped, error) {
	lists, leaf := v.layers()
	if leaf.Kind != Fixed {
		return nil, unsupported("fixed-size lists of %s", leaf.shape())
	}
	items, valid, row := 1, false, 0 // bytes of bitmaps
	for _, l := range lists {
		items *= l.Dim
		if l.Valid != nil {
			valid = true
			row += (items + 7) / 8
		}
	}
	if !Zippable(v) {
		return nil, unsupported("%d values of %d bits side by side", items, leaf.Bits)
	}
	size := items * leaf.Bits / 8
	row += size
	z := &Zipped{Encoding: listsEnc(lists, flatEnc(leaf.Bits)), N: v.N, Bits: 8 * row}
	if !valid {
		z.Data = leaf.Data[:v.N*row]
		return z, nil
	}
	out := make([]byte, 0, v.N*row)
	for i := range v.N {
		items := 1
		for _, l := range lists {
			items *= l.Dim
			if l.Valid != nil {
				out = appendBits(out, 8*len(out), l.Valid, i*items, items)
			}
		}
		out = append(out, leaf.Data[i*size:(i+1)*size]...)
	}
	z.Data = out
	return z, nil
}
