package env

import "gcity/trust"

// NoteUntrusted has the command say at its end that it worked from the text of a city alone.
func NoteUntrusted(e *Env, g trust.Grant) {
	if !e.Completes {
		e.Untrusted = g.Err()
	}
}
