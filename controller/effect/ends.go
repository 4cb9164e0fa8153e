package effect

import (
	"gcity/events"
	"gcity/session"
)

// UnrecordedEnd is an exit that is not in the log when the agent's next session starts, because its event is still
// queued. The provider drops the exit at that start, so a file keeps it for the next controller.
type UnrecordedEnd struct {
	Exit  session.Exit `json:"exit"`
	Event events.Event `json:"event"`
}

// Inherited is what the previous controller left behind. It is returned with the first list of sessions.
type Inherited struct {
	Recorded map[string]bool // IDs of sessions with an exit in the log
	Ends     []UnrecordedEnd // exits that the previous controller saved in files
}

// IsUnrecorded reports whether the previous controller did not record the exit of this session. It returns false if i
// is nil.
func (i *Inherited) IsUnrecorded(id string) bool { return i != nil && !i.Recorded[id] }
