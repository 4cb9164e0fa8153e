package pty

import (
	"bytes"
	"fmt"
	"time"

	"gcity/internal/proc"
)

// SweepRuns ends what a predecessor's setup lines, checks and runs left behind: every process with GC_RUN=<city>:… in
// its environment. It is for the start of a controller, before that has runs of its own. killed counts processes.
func SweepRuns(city string) (killed int, err error) {
	killed, left, err := proc.Sweep(func(pid int) bool {
		env := proc.Environ(pid)
		// The bytes are looked for first, because nearly every process has none of it.
		return bytes.Contains(env, []byte("GC_RUN=")) && proc.HasEnv(env, "GC_RUN="+city+":", true)
	}, time.Now().Add(sweepTimeout))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("leftovers of earlier runs cannot be ended: pids %v", left)
	}
	return killed, err
}
