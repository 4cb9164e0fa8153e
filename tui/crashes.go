package tui

import (
	"fmt"

	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// lastSaid is how many of a crash's last lines are shown.
const lastSaid = 12

// enterAgent looks closer: at an agent in quarantine, how it crashed, at any other, its terminal.
func enterAgent(m *model) []effect {
	if m.focus == panel.IDQuarantine {
		return showCrashes(m)
	}
	return zoomIn(m)
}

// showCrashes opens an agent's crashes: of the one that is read about, else of the selected one.
func showCrashes(m *model) []effect {
	d := &dossier{name: m.Agents.Chosen}
	if known := m.dialogs.dossier(); known != nil {
		d = known
	}
	r := m.Agents.Find(d.name)
	if r == nil {
		return nil
	}
	m.read(&reader{Title: "crashes of " + r.Shown, About: agentText{dossier: d, crashes: true},
		Lines: func(w int) []string { return widget.WrapAll(crashLines(m, d, w), w) }})
	if d.about == nil && d.asked == 0 {
		askAbout(m, d)
	}
	return nil
}

// crashLines are why an agent is held back, until when, and each of its crashes with what it said last.
func crashLines(m *model, d *dossier, w int) []string {
	r := m.Agents.Find(d.name)
	a, ok := m.snap.Agent(d.name)
	if r == nil || !ok {
		return []string{"This agent is no longer part of the city."}
	}
	lines := stateFields(m, r, a)
	if r.Crashes > 0 {
		lines = append(lines, m.look.Field("crashes", fmt.Sprintf("%d that count", r.Crashes)))
	}
	if d.about != nil && d.about.Spec != nil {
		for _, text := range describe.RestartLines(d.about.Spec)[1:] {
			lines = append(lines, m.look.Field("", m.look.Paint(themes.Dim, text)))
		}
	}
	switch {
	case d.problem != "":
		lines = append(lines, "", m.look.Paint(themes.Bad, "Its crashes cannot be read: "+
			d.problem))
	case d.about == nil:
		lines = append(lines, "", m.look.Paint(themes.Dim, "asking "+m.look.Glyphs.More))
	case len(d.about.Crashes) == 0:
		lines = append(lines, "", m.look.Paint(themes.Dim, "The event log knows of no crash of "+
			"it in the last seven days."))
	}
	if d.about == nil {
		return lines
	}
	for i := range d.about.Crashes {
		c := &d.about.Crashes[i]
		lines = append(lines, "", m.look.Paint(themes.Title, widget.Clock(c.At, m.now))+"  "+
			m.look.Paint(themes.Bad, crashText(c))+
			m.look.Paint(themes.Dim, "  "+widget.Age(m.now.Sub(c.At))+" ago"))
		said := widget.PlainLines(c.Output)
		if n := len(said) - lastSaid; n > 0 {
			lines = append(lines, m.look.Paint(themes.Dim,
				"  "+m.look.Glyphs.More+" "+widget.Count(n, "line")+" before"))
			said = said[n:]
		}
		for _, text := range said {
			lines = append(lines, "  "+text)
		}
		if len(said) == 0 && !c.NoStart {
			lines = append(lines, m.look.Paint(themes.Dim, "  it said nothing"))
		}
		if c.File != "" {
			lines = append(lines, m.look.Paint(themes.Dim, "  all that is kept: "+
				keptIn(m, c.File, w-20)))
		}
	}
	return lines
}
