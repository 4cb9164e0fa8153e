package tui

import (
	"gcity/tui/feed"
	"gcity/tui/widget"
)

// showTold opens what an agent is told at its start: the one that is read about, else the selected one.
func showTold(m *model) []feed.Effect {
	d := &dossier{name: m.Agents.Chosen}
	if known := m.dialogs.dossier(); known != nil {
		d = known
	}
	r := m.Agents.Find(d.name)
	if r == nil {
		return nil
	}
	m.read(&reader{Title: "prompt of " + r.Shown, About: agentText{dossier: d, told: true},
		Lines: func(w int) []string { return widget.WrapAll(toldText(m.details(), d), w) }})
	if d.about == nil && d.asked == 0 {
		askAbout(m, d)
	}
	return nil
}
