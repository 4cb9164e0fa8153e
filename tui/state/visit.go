package state

import (
	"time"

	"gcity/tui/panel"
)

// Stay is a visit to an agent's terminal that is over. The city checks its sessions only periodically, and may count
// the user as a viewer until the next check.
type Stay struct {
	Agent, session string
	others         int // viewers except the user
	Until          time.Time
}

// Staying returns a visit to the agent, beginning now.
func Staying(m *Room, agent string) Stay {
	s := Stay{Agent: agent}
	if r := m.Agents.Find(agent); r != nil && r.Session != nil {
		s.session, s.others = r.Session.ID, r.Session.Viewers
	}
	return s
}

// Left ends a visit: from now on the user is not counted as a viewer.
func Left(m *Room, now time.Time, s Stay) {
	m.Now = now
	m.UI++
	if m.Snap == nil {
		return
	}
	s.Until = now.Add(m.Snap.Patrol.Interval + panel.Slack)
	m.LastVisit = s
	m.Relist()
}

// discount subtracts a past visit of the user from the viewers of an agent.
func discount(m *Room) {
	r := m.Agents.Find(m.LastVisit.Agent)
	if r == nil || r.Session == nil || r.Session.ID != m.LastVisit.session ||
		r.Session.Viewers <= m.LastVisit.others {
		return
	}
	own := *r.Session
	own.Viewers--
	own.Attached = own.Viewers > 0
	r.Session = &own
}
