package compact

// portion is what of a run is merged together.
type portion struct {
	fragments []*Fragment
	// reads is what it takes of what a run of the engine may, rows and bytes what is kept of it.
	reads       taken
	rows, bytes int64
}

// with is the portion and what follows it.
func (p portion) with(q portion) portion {
	return portion{append(p.fragments, q.fragments...), p.reads.and(q.reads), plus(p.rows, q.rows), plus(p.bytes, q.bytes)}
}

// cut takes a run apart into the portions that are merged together. A portion ends when it has the rows of a fragment, or before
// its bytes become more than a file should have; and before it would be more than a run of the engine is to merge. What is left at
// the end joins the last portion when it is not enough for a fragment.
func (b *planner) cut(run []*Fragment) []portion {
	small := func(p portion) bool { return uint64(p.rows) < b.target() && p.bytes <= b.maxBytes()/2 }
	var portions []portion
	var cur portion
	flush := func() {
		if len(cur.fragments) > 0 {
			portions = append(portions, cur)
		}
		cur = portion{}
	}
	for _, f := range run {
		next := portion{[]*Fragment{f}, takenOf(f), f.kept(), f.liveBytes()}
		if !small(cur) && plus(cur.bytes, next.bytes) > b.maxBytes() || !b.allow(cur.reads.and(next.reads)) {
			flush()
		}
		if cur = cur.with(next); uint64(cur.rows) >= b.target() {
			flush()
		}
	}
	if n := len(portions); n > 0 && small(cur) && b.allow(portions[n-1].reads.and(cur.reads)) {
		portions[n-1] = portions[n-1].with(cur)
		return portions
	}
	flush()
	return portions
}
