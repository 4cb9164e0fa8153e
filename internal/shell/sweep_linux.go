package shell

import (
	"bytes"
	"fmt"
	"time"

	"gcity/internal/proc"
)

// the kernel certainly does not reuse a pid within this period
const noPIDReuse = 5 * time.Second

// sweep kills processes with the marker in their environment. shellPID is the pid that the line's shell had, and ran is
// its running time.
func sweep(marker string, shellPID int, ran, limit time.Duration) error {
	if marker == "" {
		return nil
	}
	ours := func(pid int) bool {
		env := proc.Environ(pid)
		// almost no process has the marker
		return bytes.Contains(env, []byte(marker)) && proc.HasEnv(env, marker, false)
	}
	var left []int
	var err error
	if deadline := time.Now().Add(limit); ran < noPIDReuse {
		_, left, err = proc.SweepSince(shellPID, ours, deadline)
	} else {
		_, left, err = proc.Sweep(ours, deadline)
	}
	if err != nil {
		return fmt.Errorf("cannot find the remaining processes of the command: %w", err)
	}
	if len(left) > 0 {
		return fmt.Errorf("remaining processes of the command cannot be killed: pids %v", left)
	}
	return nil
}
