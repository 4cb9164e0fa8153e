package env

import "gcity/trust"

// NoteUntrusted makes the command print at the end that the city's programs did not run, if the city is not trusted.
func NoteUntrusted(e *Env, g trust.Grant) {
	if !e.Completes {
		e.Untrusted = g.Err()
	}
}
