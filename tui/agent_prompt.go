package tui

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

// showPrompt opens the prompt of the agent of the open details or, without details, of the selected agent.
func showPrompt(m *model) []feed.Effect {
	d := &details.Inspection{Name: m.Agents.Chosen}
	if known := m.dialogs.dossier(); known != nil {
		d = known
	}
	r := m.Agents.Find(d.Name)
	if r == nil {
		return nil
	}
	m.read(&reader{Title: "prompt of " + r.Shown, About: agentText{Inspection: d, prompt: true},
		Lines: func(w int) []string { return widget.WrapAll(details.Prompt(m.details(), d), w) }})
	if d.About == nil && d.Asked == 0 {
		askAbout(m, d)
	}
	return nil
}
