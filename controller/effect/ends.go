package effect

import (
	"gcity/events"
	"gcity/session"
)

// UnrecordedEnd is the end of a session with an event that is still queued while the agent's next session starts.
// The provider forgets an end at that moment, so a file keeps it for the next controller.
type UnrecordedEnd struct {
	Exit  session.Exit `json:"exit"`
	Event events.Event `json:"event"`
}

// Inherited is what a controller finds out about the previous one when it first lists the sessions.
type Inherited struct {
	Recorded map[string]bool // IDs of sessions with an end in the log
	Ends     []UnrecordedEnd // that the previous controller kept in files
}

// Lacks reports whether a session ended under the previous controller without a record.
func (i *Inherited) Lacks(id string) bool { return i != nil && !i.Recorded[id] }
