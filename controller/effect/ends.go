package effect

import (
	"gcity/events"
	"gcity/session"
)

// UnrecordedEnd is the end of a life whose event still waits in a controller's queue while the agent's next life
// begins. A session provider keeps an end only until then, so a file keeps it for the next controller.
type UnrecordedEnd struct {
	Exit  session.Exit `json:"exit"`
	Event events.Event `json:"event"`
}

// Inherited is what a controller finds of its predecessor's work when it first looks at the sessions.
type Inherited struct {
	Recorded map[string]bool // ids of the sessions whose end is in the log
	Ends     []UnrecordedEnd // that the predecessor kept in files
}

// Lacks reports whether a session ended under the predecessor, which did not record that.
func (i *Inherited) Lacks(id string) bool { return i != nil && !i.Recorded[id] }
