package shell

import (
	"fmt"
	"io"
	"time"
)

// progress is one line on a terminal that is written over again and again.
type progress struct {
	w     io.Writer
	now   func() time.Time
	last  time.Time
	shown bool
}

// redraw is how often the line may change: often enough to look alive.
const redraw = 100 * time.Millisecond

const (
	toLineStart = "\r"
	clearLine   = "\x1b[K"
)

// newProgress returns nil, which shows nothing, when stderr is no terminal.
func newProgress(c *call) *progress {
	if !c.env.Terminal {
		return nil
	}
	return &progress{w: c.stderr, now: time.Now}
}

func (p *progress) show(format string, args ...any) {
	if p == nil {
		return
	}
	if t := p.now(); t.Sub(p.last) >= redraw {
		p.last, p.shown = t, true
		fmt.Fprint(p.w, toLineStart, fmt.Sprintf(format, args...), clearLine)
	}
}

// done takes the line away, so that what follows starts on a clean one.
func (p *progress) done() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, toLineStart, clearLine)
	}
}
