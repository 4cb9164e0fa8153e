package city

import (
	"encoding/json"
	"strings"

	"gcity/beads"
	"gcity/events"
	"gcity/mail"
)

type beadEvent struct {
	Rig      string       `json:"rig,omitempty"`
	Type     string       `json:"type"`
	Status   beads.Status `json:"status"`
	Assignee string       `json:"assignee,omitempty"`
	ParentID string       `json:"parent_id,omitempty"`
	Labels   []string     `json:"labels,omitempty"`
	// only for messages
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Thread string `json:"thread_id,omitempty"`
	// see automation.Depth
	Depth int `json:"depth,omitempty"`
}

// ChangesWork reports whether an event of this type says that work or mail has changed.
func ChangesWork(kind string) bool {
	return strings.HasPrefix(kind, "bead.") || strings.HasPrefix(kind, "mail.") ||
		kind == events.StoreRestored
}

// BeadEvent returns the event for a change to a bead. If old is nil, the bead is new. The author "" means "operator".
// If nothing has changed, the event has no type.
func BeadEvent(old *beads.Bead, b Located, by string, depth int) events.Event {
	if by == "" {
		by = "operator"
	}
	e := events.Event{Actor: by, Subject: b.ID, Message: b.Title}
	word := beadEvent{Rig: b.Rig, Type: b.Type, Status: b.Status, Assignee: b.Assignee,
		ParentID: b.ParentID, Labels: b.Labels, Depth: depth}
	m, is := mail.FromBead(b.Bead)
	if is {
		word.From, word.To, word.Thread, word.Depth = m.From, m.To, m.Thread, max(depth, m.Depth)
	}
	switch {
	case old == nil && is:
		e.Type, e.Actor, e.Message = events.MailSent, m.From, "to "+m.To+": "+b.Title
	case old == nil:
		e.Type = events.BeadCreated
	case old.Rev == b.Rev:
		return events.Event{}
	case is && m.Read && !isRead(*old):
		e.Type, e.Message = events.MailRead, "from "+m.From+": "+b.Title
	case b.Status == beads.StatusClosed && old.Status != beads.StatusClosed:
		e.Type = events.BeadClosed
	default:
		e.Type = events.BeadUpdated
	}
	data, err := json.Marshal(word)
	if err == nil {
		e.Payload = data
	}
	return e
}

// ChangeText describes a change that the event type does not describe well enough, or returns "".
func ChangeText(was *beads.Bead, b beads.Bead) string {
	if was == nil || was.Rev == b.Rev {
		return ""
	}
	opened := was.Status == beads.StatusClosed && b.Status != beads.StatusClosed
	m, is := mail.FromBead(b)
	switch {
	case opened && is:
		return b.ID + " is back in the inbox of " + m.To
	case opened:
		return "reopened " + b.ID
	case !is:
		return ""
	case m.Archived && was.Status != beads.StatusClosed:
		return "archived " + b.ID
	case m.Read && !isRead(*was):
		return b.ID + " was marked as read"
	case !m.Read && isRead(*was):
		return b.ID + " was marked as unread"
	}
	return ""
}

func isRead(b beads.Bead) bool {
	m, _ := mail.FromBead(b)
	return m.Read
}

// RoomOf returns UseReserve if a client's event may use the disk reserve. Events about beads may, because the change
// has already happened.
func RoomOf(e *events.Event) events.Room {
	if strings.HasPrefix(e.Type, "bead.") {
		return events.UseReserve
	}
	return events.LeaveReserve
}
