package compact

// piece is what of a run is merged together.
type piece struct {
	fragments []*Fragment
	// reads is what it takes of what a run of the engine may, rows and bytes what is kept of it.
	reads       taken
	rows, bytes int64
}

// with is the piece and what follows it.
func (p piece) with(q piece) piece {
	return piece{append(p.fragments, q.fragments...), p.reads.and(q.reads), plus(p.rows, q.rows), plus(p.bytes, q.bytes)}
}

// cut takes a run apart into the pieces that are merged together. A piece ends when it has the rows of a fragment, or before
// its bytes become more than a file should have; and before it would be more than a run of the engine is to merge. What is left at
// the end joins the last piece when it is not enough for a fragment.
func (b *planner) cut(run []*Fragment) []piece {
	small := func(p piece) bool { return uint64(p.rows) < b.target() && p.bytes <= b.maxBytes()/2 }
	var pieces []piece
	var cur piece
	flush := func() {
		if len(cur.fragments) > 0 {
			pieces = append(pieces, cur)
		}
		cur = piece{}
	}
	for _, f := range run {
		next := piece{[]*Fragment{f}, takenOf(f), f.kept(), f.liveBytes()}
		if !small(cur) && plus(cur.bytes, next.bytes) > b.maxBytes() || !b.allow(cur.reads.and(next.reads)) {
			flush()
		}
		if cur = cur.with(next); uint64(cur.rows) >= b.target() {
			flush()
		}
	}
	if n := len(pieces); n > 0 && small(cur) && b.allow(pieces[n-1].reads.and(cur.reads)) {
		pieces[n-1] = pieces[n-1].with(cur)
		return pieces
	}
	flush()
	return pieces
}
