package pty

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"time"

	"gcity/internal/proc"
)

// SweepRuns kills what an earlier controller's runs have left behind, and returns the number of processes. No
// controller may be running, and the caller must not have started any runs.
func SweepRuns(city string) (killed int, err error) {
	killed, left, err := proc.Sweep(func(pid int) bool {
		return isRunOf(city, proc.Environ(pid))
	}, time.Now().Add(sweepTimeout))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("cannot kill processes of earlier runs: pids %v", left)
	}
	return killed, err
}

// FindRuns returns the processes that SweepRuns would kill.
func FindRuns(city string) ([]int, error) {
	pids, err := proc.All()
	return slices.DeleteFunc(pids, func(pid int) bool {
		return pid == os.Getpid() || !isRunOf(city, proc.Environ(pid))
	}), err
}

// isRunOf reports whether an environment contains a GC_RUN entry of this city. If the ID contains a colon or slash, the
// entry belongs to a city with a longer path.
func isRunOf(city string, environ []byte) bool {
	mine := []byte("GC_RUN=" + city + ":")
	if !bytes.Contains(environ, mine) { // fast check: almost no environment contains this text
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
