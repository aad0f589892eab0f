package journal

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Holder says which process wrote a record, so that a claim of one that has
// died does not hold anybody up.
type Holder struct {
	// Host identifies the machine, its boot and the process name space; "" when
	// that can't be known.
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Start is when the process started, in the system's own unit; "" when unknown.
	Start string `json:"start"`
	// Run is one run within the process.
	Run string `json:"run"`
}

// claimTTL is how long a record without a sign of its writer is taken for a
// claim; writers on other hosts touch their records every TouchEvery.
const claimTTL = 2 * time.Minute

// TouchEvery is how often a writer touches its record.
const TouchEvery = 30 * time.Second

// runs are the runs under way in this process. A record is state shared by processes
// through the store, and so is whether its writer is still at work.
var runs struct {
	sync.Mutex
	alive map[string]bool
}

// Begin makes a name for one run of a job and marks it as being at work until
// end is called.
func Begin() (run string, end func()) {
	run = uuid.NewString()
	runs.Lock()
	defer runs.Unlock()
	if runs.alive == nil {
		runs.alive = make(map[string]bool)
	}
	runs.alive[run] = true
	return run, func() {
		runs.Lock()
		defer runs.Unlock()
		delete(runs.alive, run)
	}
}

func self() Holder {
	return Holder{Host: hostIdentity(), PID: os.Getpid(), Start: processStart(os.Getpid())}
}

// Alive tells whether the record's writer seems to be at work: on this machine
// by looking for the process, elsewhere by the record's age.
func (r *Record) Alive(now time.Time) bool {
	h := r.Holder
	if h.Host == "" || h.Host != hostIdentity() {
		return now.Sub(r.ModTime) < claimTTL
	}
	if h.PID == os.Getpid() && h.Start == processStart(h.PID) {
		runs.Lock()
		defer runs.Unlock()
		return runs.alive[h.Run]
	}
	return processWorking(h.PID, h.Start)
}

// hostIdentity is made of what tells machines, boots and process name spaces
// apart where the system has them (Linux), and of nothing elsewhere: there, age decides.
func hostIdentity() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name + " " + strings.TrimSpace(string(boot)) + " " + ns
}
