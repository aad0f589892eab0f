package compact

// joinBelow is how many bytes of a column's pages are too few to be copied next to others that are as few. Measured on 64 MB of
// vectors: to join pages of 256, 512 and 900 KiB takes 0.15 s of processor time more than to copy them, once; after that each scan by
// Lance 14 takes 13, 5 and 0 % less, and each take of 1,000 rows 10 to 25 %.
const joinBelow = 1 << 20

// holding is what a fragment holds of one top-level field, as far as it decides how the field
// gets into a new file.
type holding struct {
	// ids of the columns, as textOf has them; "" when it holds none of it, and all is null.
	ids string
	// why its pages can't be copied, whatever others hold; "" when they can.
	why string
	// agreed is what its pages and those of others have to agree on, encodings the messages
	// of its columns, which have to be the same, too.
	agreed, encodings string
	// dictionaries with narrow keys, in the order of the schema.
	dictionaries []dictionary
	// single are the bytes of what has to be in one page with that of other fragments.
	single int64
	// units that can be copied by themselves.
	units []unit
}

// way is how rows of a field get from a fragment to a new file.
type way int

const (
	// copied: as the pages in which they are.
	copied way = iota
	// pruned: as the pages in which they are, without rows that are deleted.
	pruned
	// encoded: decoded, and encoded anew.
	encoded
)

// stretch is a range of a fragment's stored rows that gets to a new file in one way.
type stretch struct {
	piece
	way way
	// least bytes of a column's pages, and bytes of all columns'.
	least, bytes int64
}

// stretchesOf decides for one field of one new file how its rows come from the fragments. Nil when none of them
// holds any of it: then neither does the new file. below is how many bytes of a column's pages are small. anew tells that some may be encoded; the new file
// then has all columns of the field, else those that all the fragments have.
//
// Pages are copied wherever the new file can hold them: next to pages that are encoded, when these say the same of the column
// as they do. Where pages have to agree about null structs and some are encoded, all are: those that are encoded
// have levels for them. Small pages next to each other, or to what is encoded, are encoded together.
func stretchesOf(f *topField, plain string, pieces []piece, fragments []stored, held []*holding, below int64) (out []stretch, anew bool) {
	any, same, agreed := false, true, ""
	var first *holding
	for _, p := range pieces {
		h := held[p.frag]
		if first == nil {
			first = h
		}
		any = any || h.ids != ""
		same = same && h.why == "" && h.ids == first.ids && h.encodings == first.encodings
		if h.agreed != "" {
			same = same && (agreed == "" || agreed == h.agreed)
			agreed = h.agreed
		}
	}
	if !any {
		return nil, false
	}
	if same {
		out = cutAt(pieces, fragments, held, func(*holding) bool { return true })
		if f.unwritable == nil {
			join(out, below)
		}
		if !needsWriter(out) {
			return merged(out), false
		}
	}
	whole := textOf(f.ids)
	out = cutAt(pieces, fragments, held, func(h *holding) bool {
		return h.why == "" && h.ids == whole && h.encodings == plain && !f.must
	})
	join(out, below)
	return merged(out), true
}

func needsWriter(all []stretch) bool {
	for _, s := range all {
		if s.way != copied {
			return true
		}
	}
	return false
}

// cutAt cuts pieces at the borders of units.
func cutAt(pieces []piece, fragments []stored, held []*holding, copyable func(*holding) bool) (out []stretch) {
	for _, p := range pieces {
		h := held[p.frag]
		if len(h.units) == 0 || !copyable(h) {
			s := stretch{piece: p, way: encoded}
			s.least, s.bytes = bytesIn(h, fragments[p.frag].rows, p)
			out = append(out, s)
			continue
		}
		start, row := uint64(0), p.row
		for _, u := range h.units {
			s := stretch{piece: piece{frag: p.frag, from: max(start, p.from), to: min(u.end, p.to), row: row}, least: u.least, bytes: u.bytes}
			size := u.end - start
			start = u.end
			if s.from >= s.to {
				continue
			}
			s.live = fragments[p.frag].live(s.from, s.to)
			if s.live == 0 {
				continue
			}
			row += s.live
			if s.live < size {
				s.way = pruned
				s.least, s.bytes = share64(s.least, s.live, size), share64(s.bytes, s.live, size)
			}
			out = append(out, s)
		}
	}
	return out
}

// bytesIn are about what a piece takes in its fragment, in the column that takes least and in all.
func bytesIn(h *holding, rows uint64, p piece) (least, bytes int64) {
	for _, u := range h.units {
		least, bytes = least+u.least, bytes+u.bytes
	}
	return share64(least, p.to-p.from, rows), share64(bytes, p.to-p.from, rows)
}

func share64(n int64, part, of uint64) int64 {
	return int64(float64(n) * float64(part) / float64(max(of, 1)))
}

// join has those encoded that have fewer bytes than that and stand next to others that have, or that are encoded anyway.
func join(all []stretch, below int64) {
	small := func(s stretch) bool { return s.way == encoded || s.least < below }
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && small(all[end]) {
			end++
		}
		if end-i > 1 {
			for k := i; k < end; k++ {
				all[k].way = encoded
			}
		}
		i = max(end, i+1)
	}
}

// merged joins neighbours that come in the same way.
func merged(all []stretch) []stretch {
	var out []stretch
	for _, s := range all {
		if n := len(out); n > 0 && out[n-1].frag == s.frag && out[n-1].to == s.from && out[n-1].way == s.way && s.way != pruned {
			o := &out[n-1]
			o.to, o.live, o.bytes, o.least = s.to, o.live+s.live, o.bytes+s.bytes, o.least+s.least
			continue
		}
		out = append(out, s)
	}
	return out
}
