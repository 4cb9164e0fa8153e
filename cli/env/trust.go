package env

import "gcity/trust"

// NoteUntrusted makes the command print, when it ends, why the city's programs did not run.
func NoteUntrusted(e *Env, g trust.Grant) {
	if !e.Completes {
		e.Untrusted = g.Err()
	}
}
