package journal

import (
	"fmt"
	"os"
	"strings"
)

// Fields of /proc/<pid>/stat, counted behind the command's closing parenthesis.
const (
	statState = 0
	statStart = 19
)

// stat reads a process's state and start time; nil when there is no such process.
func stat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The command may hold spaces and parentheses of its own.
	_, rest, ok := cutLast(string(b), ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) <= statStart {
		return nil
	}
	return fields
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// processStart is when a process started, in ticks since boot; "" when unknown.
func processStart(pid int) string {
	if f := stat(pid); f != nil {
		return f[statStart]
	}
	return ""
}

// processWorking tells whether the process that started then is there and not
// stopped: one that is stopped may stay so for ever.
func processWorking(pid int, start string) bool {
	f := stat(pid)
	if f == nil || f[statStart] != start {
		return false
	}
	switch f[statState] {
	case "T", "t", "Z", "X", "x":
		return false
	}
	return true
}
