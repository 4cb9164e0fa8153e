package pty

import (
	"bytes"
	"fmt"
	"time"

	"gcity/internal/proc"
)

// SweepRuns kills the processes that an earlier controller's setup lines, checks and runs have left behind.
// These processes have GC_RUN=<city>:<id> in their environment. The caller must not have started runs yet.
// killed is the number of processes.
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
// slash, but a path may contain both. If the part of the marker after this city's path contains them, the marker
// belongs to another city with a longer path.
func isRunOf(city string, environ []byte) bool {
	mine := []byte("GC_RUN=" + city + ":")
	if !bytes.Contains(environ, mine) { // almost no process contains this text
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
