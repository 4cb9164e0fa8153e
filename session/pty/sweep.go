package pty

import (
	"bytes"
	"fmt"
	"time"

	"gcity/internal/proc"
)

// SweepRuns ends what a predecessor's setup lines, checks and runs left behind: every process with
// GC_RUN=<city>:<id> in its environment. It is for the start of a controller, before that has runs of its own.
// killed counts processes.
func SweepRuns(city string) (killed int, err error) {
	killed, left, err := proc.Sweep(func(pid int) bool {
		return isRunOf(city, proc.Environ(pid))
	}, time.Now().Add(sweepTimeout))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("leftovers of earlier runs cannot be ended: pids %v", left)
	}
	return killed, err
}

// isRunOf reports whether an environment has a marker of this city. An id has neither a colon nor a slash, and a
// path may have both: what goes on with them belongs to a city whose path begins like this one.
func isRunOf(city string, environ []byte) bool {
	mine := []byte("GC_RUN=" + city + ":")
	if !bytes.Contains(environ, mine) { // nearly every process has none of it
		return false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if id, ok := bytes.CutPrefix(entry, mine); ok && len(id) > 0 &&
			!bytes.ContainsAny(id, ":/") {
			return true
		}
	}
	return false
}
