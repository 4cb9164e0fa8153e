package state

import (
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// RequestLists requests the beads that visible panels need.
func RequestLists(m *Room) {
	if m.Snap == nil || m.FleetRoom {
		return
	}
	e := m.Env()
	for _, p := range m.Panels {
		if k, ok := p.(panel.BeadPanel); ok {
			k.RequestBeads(e, OnScreen(m, p.About().ID),
				func(q beads.Query) int { return requestBeads(m, q) })
			if wait := k.TimeToQuery(m.Now); wait > 0 {
				m.Todo = append(m.Todo, feed.Wake{After: wait})
			}
		}
	}
}

// DeliverLists passes beads to the panel that requested them.
func DeliverLists(m *Room, f feed.FoundBeads) {
	for _, p := range m.Panels {
		if k, ok := p.(panel.BeadPanel); ok && k.Take(f.ID, f.Beads, f.Problem) && m.Snap != nil {
			p.Update(m.Env())
			m.ApplyNewData()
		}
	}
}

// MarkListsOutdated makes the panels request their beads again, immediately if byUser is set.
func MarkListsOutdated(m *Room, byUser bool) {
	for _, p := range m.Panels {
		if k, ok := p.(panel.BeadPanel); ok {
			k.Outdated()
			if byUser {
				k.Hurry()
			}
		}
	}
}

const (
	RunType = "run" // bead type of runs
	runRows = 10
)

// RequestRuns requests an automation's latest runs from the city.
func RequestRuns(m *Room, h *details.RunHistory) {
	h.Newest = newestRun(m, h.Name)
	h.RequestID = requestBeads(m, beads.Query{Labels: []string{city.RunLabel + h.Name},
		Type:  RunType,
		Limit: runRows})
}

// newestRun returns a string that changes when a new run starts or the latest run ends.
func newestRun(m *Room, name string) string {
	r := m.Automations.Find(name)
	if r == nil || r.Last == nil {
		return ""
	}
	return r.Last.ID + " " + r.Last.Outcome
}

// RunsChanged requests the runs again if the open list of runs is outdated.
func RunsChanged(m *Room) {
	if h := m.Dialogs.History(); h != nil && h.RequestID == 0 && h.Newest != newestRun(m, h.Name) {
		RequestRuns(m, h)
	}
}

func requestBeads(m *Room, q beads.Query) int {
	m.Requests++
	m.Todo = append(m.Todo, feed.QueryBeads{ID: m.Requests, Query: q})
	return m.Requests
}

// RequestInspection requests details of an agent from the city.
func RequestInspection(m *Room, d *details.Inspection) {
	m.Requests++
	d.RequestID, d.StateKey = m.Requests, inspectionKey(m, d.Name)
	m.Todo = append(m.Todo, feed.Inspect{ID: d.RequestID, Agent: d.Name})
}

// inspectionKey returns a string that changes when the details of an agent might have changed.
func inspectionKey(m *Room, name string) string {
	a, ok := m.Snap.Agent(name)
	if !ok {
		return ""
	}
	life, file := "", ""
	if a.Session != nil {
		life = a.Session.ID
	}
	if a.Exit != nil {
		file = a.Exit.File + a.Exit.At.String()
	}
	return strings.Join(append(a.Drift, string(a.State), life, file, m.Snap.Config.Revision),
		"\x00")
}

func inspectionChanged(m *Room) {
	d := m.Dialogs.Inspection()
	if d == nil {
		return
	}
	if sign := inspectionKey(m, d.Name); d.RequestID == 0 && sign != "" && sign != d.StateKey {
		RequestInspection(m, d)
	}
}

// Inspected handles the details of an agent. It ignores results of outdated requests.
func Inspected(m *Room, in feed.Inspected) {
	d := m.Dialogs.Inspection()
	if d == nil || d.RequestID != in.ID {
		return
	}
	m.UI++
	d.RequestID, d.Problem = 0, widget.Plain(in.Problem)
	if in.Problem == "" {
		d.About = in.Inspection
	}
	inspectionChanged(m)
}
