package tui

import (
	"gcity/beads"
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
	"strings"
)

// askLists requests the beads that visible panels need.
func askLists(m *model) {
	if m.snap == nil || m.fleetRoom {
		return
	}
	e := m.env()
	for _, p := range m.Panels {
		if k, ok := p.(panel.Asking); ok {
			k.Ask(e, onScreen(m, p.About().ID), func(q beads.Query) int { return seekBeads(m, q) })
		}
	}
}

// tellLists passes an answer to the panel that waits for it.
func tellLists(m *model, f feed.FoundBeads) {
	for _, p := range m.Panels {
		if k, ok := p.(panel.Asking); ok && k.Take(f.ID, f.Beads, f.Problem) && m.snap != nil {
			p.Update(m.env())
			m.keepUp()
		}
	}
}

// outdate makes panels request beads again, because the city's beads have changed.
func outdate(m *model) {
	for _, p := range m.Panels {
		if k, ok := p.(panel.Asking); ok {
			k.Outdated()
		}
	}
}

const (
	runType = "run" // bead type of runs
	runRows = 10
)

func askRuns(m *model, h *details.RunHistory) {
	h.Newest = newestRun(m, h.Name)
	h.Asked = seekBeads(m, beads.Query{Labels: []string{city.RunLabel + h.Name}, Type: runType,
		Limit: runRows})
}

// newestRun returns a key that changes when a newer run starts or the newest run ends.
func newestRun(m *model, name string) string {
	r := m.Automations.Find(name)
	if r == nil || r.Last == nil {
		return ""
	}
	return r.Last.ID + " " + r.Last.Outcome
}

// runsChanged requests the runs again if the open list is outdated.
func runsChanged(m *model) {
	if h := m.dialogs.history(); h != nil && h.Asked == 0 && h.Newest != newestRun(m, h.Name) {
		askRuns(m, h)
	}
}

// seekBeads requests beads from the city and returns the ID of the request.
func seekBeads(m *model, q beads.Query) int {
	m.seeks++
	m.todo = append(m.todo, feed.QueryBeads{ID: m.seeks, Query: q})
	return m.seeks
}

// askAbout requests details of an agent from the city.
func askAbout(m *model, d *details.Inspection) {
	m.seeks++
	d.Asked, d.Sign = m.seeks, signOf(m, d.Name)
	m.todo = append(m.todo, feed.Inspect{ID: d.Asked, Agent: d.Name})
}

// signOf returns a string that changes when the details of an agent may have changed.
func signOf(m *model, name string) string {
	a, ok := m.snap.Agent(name)
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
	return strings.Join(append(a.Drift, string(a.State), life, file, m.snap.Config.Revision),
		"\x00")
}

// dossierChanged requests the open details again when they may have changed.
func dossierChanged(m *model) {
	d := m.dialogs.dossier()
	if d == nil {
		return
	}
	if sign := signOf(m, d.Name); d.Asked == 0 && sign != "" && sign != d.Sign {
		askAbout(m, d)
	}
}

// inspected handles the details of an agent. It ignores answers to outdated requests.
func inspected(m *model, in feed.Inspected) {
	d := m.dialogs.dossier()
	if d == nil || d.Asked != in.ID {
		return
	}
	m.UI++
	d.Asked, d.Problem = 0, widget.Plain(in.Problem)
	if in.Problem == "" {
		d.About = in.About
	}
	dossierChanged(m)
}
