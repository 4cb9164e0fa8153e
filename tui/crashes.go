package tui

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// enterAgent shows the crashes of an agent in quarantine, and the terminal of any other agent.
func enterAgent(m *model) []feed.Effect {
	if m.focus == panel.IDQuarantine {
		return showCrashes(m)
	}
	return zoomIn(m)
}

// showCrashes shows the crashes of the agent of the open details or, without details, of the selected agent.
func showCrashes(m *model) []feed.Effect {
	d := &details.Inspection{Name: m.Agents.Chosen}
	if known := m.dialogs.dossier(); known != nil {
		d = known
	}
	r := m.Agents.Find(d.Name)
	if r == nil {
		return nil
	}
	m.read(&reader{Title: "crashes of " + r.Shown, About: agentText{Inspection: d, crashes: true},
		Lines: func(w int) []string {
			return widget.WrapAll(details.Crashes(m.details(), d, w), w)
		}})
	if d.About == nil && d.Asked == 0 {
		askAbout(m, d)
	}
	return nil
}
