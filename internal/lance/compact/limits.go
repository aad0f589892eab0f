package compact

const (
	// DefaultMemory is how much memory a run takes at most, unless told otherwise.
	DefaultMemory = 256 << 20
	// MinMemory is the least that a run can do with; to be told less counts as that.
	MinMemory = 96 << 20
)

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
	total    int64
	// join is how many bytes of a column's pages are so few that they are joined with their neighbours.
	join int64
}

// limitsOf divides memory. What is not given out here is for what is being encoded, and for garbage.
func limitsOf(memory int64) limits {
	if memory <= 0 {
		memory = DefaultMemory
	}
	memory = max(memory, MinMemory)
	total := memory
	memory -= 16 << 20 // what the runtime and idle buffers take
	threads := 2
	if total < 2*MinMemory {
		threads = 1
	}
	return limits{total: total, held: memory / 8, batch: min(memory/1024, 1<<20), ahead: min(memory/64, 8<<20), page: min(memory/32, 8<<20),
		whole: memory / 16, metadata: memory / 16, threads: threads, join: joinBelow}
}
