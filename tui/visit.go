package tui

import (
	"time"

	"gcity/tui/panel"
)

// stay is a visit to an agent's terminal that is over. The city checks its sessions only periodically, and may count
// the user as a viewer until the next check.
type stay struct {
	agent, session string
	others         int // viewers except the user
	until          time.Time
}

// staying returns the visit to an agent that begins now.
func staying(m *model, agent string) stay {
	s := stay{agent: agent}
	if r := m.Agents.Find(agent); r != nil && r.Session != nil {
		s.session, s.others = r.Session.ID, r.Session.Viewers
	}
	return s
}

// left ends a visit: from now on the user is not counted as a viewer.
func left(m *model, now time.Time, s stay) {
	m.now = now
	m.UI++
	if m.snap == nil {
		return
	}
	s.until = now.Add(m.snap.Patrol.Interval + panel.Slack)
	m.stayed = s
	m.relist()
}

// discount subtracts a past visit of the user from the viewers of an agent.
func discount(m *model) {
	r := m.Agents.Find(m.stayed.agent)
	if r == nil || r.Session == nil || r.Session.ID != m.stayed.session ||
		r.Session.Viewers <= m.stayed.others {
		return
	}
	own := *r.Session
	own.Viewers--
	own.Attached = own.Viewers > 0
	r.Session = &own
}
