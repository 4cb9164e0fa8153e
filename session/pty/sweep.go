package pty

import (
	"bytes"
	"fmt"
	"time"

	"gcity/internal/proc"
)

// SweepRuns kills what an earlier controller's setup lines, checks and runs left: every process with
// GC_RUN=<city>:<id> in its environment. Call it before a controller starts runs of its own. killed counts
// processes.
func SweepRuns(city string) (killed int, err error) {
	killed, left, err := proc.Sweep(func(pid int) bool {
		return isRunOf(city, proc.Environ(pid))
	}, time.Now().Add(sweepTimeout))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("processes of earlier runs cannot be killed: pids %v", left)
	}
	return killed, err
}

// isRunOf reports whether an environment has a marker of this city. An ID contains neither a colon nor a slash, but
// a path may contain both. A marker that continues with them belongs to another city, with a path that starts with
// this one's.
func isRunOf(city string, environ []byte) bool {
	mine := []byte("GC_RUN=" + city + ":")
	if !bytes.Contains(environ, mine) { // nearly no process contains it
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
