package env

import "gcity/trust"

// NoteUntrusted makes the command print at its end that it used only the text of an untrusted city.
func NoteUntrusted(e *Env, g trust.Grant) {
	if !e.Completes {
		e.Untrusted = g.Err()
	}
}
