package env

import "gcity/trust"

// NoteUntrusted makes an untrusted city's command print at its end that the city's programs did not run.
func NoteUntrusted(e *Env, g trust.Grant) {
	if !e.Completes {
		e.Untrusted = g.Err()
	}
}
