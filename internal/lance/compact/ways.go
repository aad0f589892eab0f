package compact

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
}

// way is how a field's rows get from a fragment to a new file.
type way int

const (
	copied way = iota
	encoded
)

// waysOf decides for one field of one new file how its rows come from each of the fragments. Nil when none of them
// holds any of it: then neither does the new file. anew tells that some are encoded; the new file
// then has all columns of the field, else those that all the fragments have.
//
// Pages are copied wherever the new file can hold them: next to pages that are encoded, when these say the same of the column
// as they do. Where pages have to agree about null structs and some are encoded, all are: those that are encoded
// have levels for them.
func waysOf(f *topField, plain string, held []holding) (ways []way, anew bool) {
	any, same, agreed := false, true, ""
	for _, h := range held {
		any = any || h.ids != ""
		same = same && h.why == "" && h.ids == held[0].ids && h.encodings == held[0].encodings
		if h.agreed != "" {
			same = same && (agreed == "" || agreed == h.agreed)
			agreed = h.agreed
		}
	}
	if !any {
		return nil, false
	}
	ways = make([]way, len(held))
	if same {
		return ways, false
	}
	whole := textOf(f.ids)
	for i, h := range held {
		if h.why != "" || h.ids != whole || h.encodings != plain || f.must {
			ways[i] = encoded
		}
	}
	return ways, true
}
