package env

import "gcity/trust"

// NoteUntrusted makes the command print at its end that the city is not trusted, so that its programs did not run.
func NoteUntrusted(e *Env, g trust.Grant) {
	if !e.Completes {
		e.Untrusted = g.Err()
	}
}
