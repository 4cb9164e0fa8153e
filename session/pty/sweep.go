package pty

import (
	"bytes"
	"fmt"
	"time"

	"gcity/internal/proc"
)

// SweepRuns kills the processes that setup lines, checks and runs of an earlier controller have left: those with
// GC_RUN=<city>:<id> in their environment. It must be called before a controller starts runs. killed is the number
// of processes.
func SweepRuns(city string) (killed int, err error) {
	killed, left, err := proc.Sweep(func(pid int) bool {
		return isRunOf(city, proc.Environ(pid))
	}, time.Now().Add(sweepTimeout))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("processes of earlier runs cannot be killed: pids %v", left)
	}
	return killed, err
}

// isRunOf reports whether an environment contains a marker of this city. An ID contains neither a colon nor a
// slash, but a path may contain both. If the rest of the marker contains them, it belongs to another city, with a
// path that begins with that of this city.
func isRunOf(city string, environ []byte) bool {
	mine := []byte("GC_RUN=" + city + ":")
	if !bytes.Contains(environ, mine) { // almost no process contains it
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
