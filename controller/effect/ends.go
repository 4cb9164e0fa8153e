package effect

import (
	"gcity/events"
	"gcity/session"
)

// UnrecordedEnd is an exit with an event that is still queued when the agent's next session starts. The start makes
// the provider drop the exit, so a file keeps it for the next controller.
type UnrecordedEnd struct {
	Exit  session.Exit `json:"exit"`
	Event events.Event `json:"event"`
}

// Inherited contains facts about the previous controller. The first list of sessions returns it.
type Inherited struct {
	Recorded map[string]bool // IDs of sessions with an exit in the log
	Ends     []UnrecordedEnd // exits that the previous controller saved in files
}

// IsUnrecorded reports whether the exit of a session happened under the previous controller and is not recorded.
func (i *Inherited) IsUnrecorded(id string) bool { return i != nil && !i.Recorded[id] }
