package state

import (
	"time"

	"gcity/tui/panel"
)

// Visit is a visit of the user to an agent's terminal. After it ends, the city might still count the user as a viewer
// until its next check.
type Visit struct {
	Agent, session string
	others         int // viewers except the user
	Until          time.Time
}

// BeginVisit returns a new visit to the agent's terminal.
func BeginVisit(m *Room, agent string) Visit {
	s := Visit{Agent: agent}
	if r := m.Agents.Find(agent); r != nil && r.Session != nil {
		s.session, s.others = r.Session.ID, r.Session.Viewers
	}
	return s
}

// EndVisit ends a visit. From now on, the user no longer counts as a viewer.
func EndVisit(m *Room, now time.Time, s Visit) {
	m.Now = now
	m.UI++
	if m.Snap == nil {
		return
	}
	s.Until = now.Add(m.Snap.Patrol.Interval + panel.CheckSlack)
	m.LastVisit = s
	m.Relist()
}

func excludeOwnView(m *Room) {
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
