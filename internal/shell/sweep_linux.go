package shell

import (
	"bytes"
	"fmt"
	"time"

	"gcity/internal/proc"
)

// pidsHold is how long the kernel's process numbers are assumed not to wrap around.
const pidsHold = 5 * time.Second

// sweep ends what carries a marker and outlived its line's process group, and waits for that up to a limit. shell
// was the line's pid.
func sweep(marker string, shell int, took, limit time.Duration) error {
	if marker == "" {
		return nil
	}
	ours := func(pid int) bool {
		env := proc.Environ(pid)
		// The bytes are looked for first, because nearly every process has none of it.
		return bytes.Contains(env, []byte(marker)) && proc.HasEnv(env, marker, false)
	}
	var left []int
	var err error
	if deadline := time.Now().Add(limit); took < pidsHold {
		_, left, err = proc.SweepSince(shell, ours, deadline)
	} else {
		_, left, err = proc.Sweep(ours, deadline)
	}
	if err != nil {
		return fmt.Errorf("cannot look for what it left behind: %w", err)
	}
	if len(left) > 0 {
		return fmt.Errorf("it left processes behind that cannot be ended: pids %v", left)
	}
	return nil
}
