package compact

// DefaultMemory is how much memory a run takes at most, unless told otherwise.
const DefaultMemory = 256 << 20

// limits are the shares of a run's memory.
type limits struct {
	// held are rows that wait until their page is full, batch those that are being decoded, ahead bytes that are fetched and
	// not decoded yet, page the values of a page that is being encoded. Encoding takes up to three pages more, on
	// each thread.
	held, batch, ahead, page int64
	// whole is the largest page that loses rows in memory.
	whole int64
	// metadata of files that are opened again.
	metadata int64
	threads  int
	// join is how many bytes of a column's pages are so few that they are joined with their neighbours.
	join int64
}

// limitsOf divides memory. What is not given out here is for what is being encoded, and for garbage.
func limitsOf(memory int64) limits {
	if memory <= 0 {
		memory = DefaultMemory
	}
	l := limits{held: memory / 8, batch: memory / 64, ahead: memory / 16, page: memory / 32, whole: memory / 16, metadata: memory / 16, threads: 2, join: joinBelow}
	l.batch = min(max(l.batch, 64<<10), 1<<20)
	l.ahead = min(max(l.ahead, 64<<10), 8<<20)
	l.page = min(max(l.page, 64<<10), 8<<20)
	return l
}
