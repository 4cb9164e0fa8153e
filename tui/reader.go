package tui

import (
	"fmt"
	"strings"

	"gcity/describe"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

func showEvent(m *model) []feed.Effect {
	row := *m.Events.Selected()
	openReader(m, &reader{Title: row.Kind, About: eventAgent(agentOf(m, &row.Event)),
		Lines: func(w int) []string {
			return widget.WrapAll(details.Event(m.details(), &row), w)
		}})
	return nil
}

// showDetails shows details of the object that verbs act on, or of the agent that the object refers to.
func showDetails(m *model) []feed.Effect {
	if id := m.worked().About().Details; id != "" {
		return m.keys.ByID(id).Run(m)
	}
	return showAgent(m)
}

func showPool(m *model) []feed.Effect {
	p := pool(m)
	name := p.Name
	openReader(m, &reader{Title: "pool " + p.Shown,
		Lines: func(w int) []string {
			return widget.WrapAll(details.Pool(m.details(), name), w)
		}})
	return nil
}

func showCity(m *model) []feed.Effect {
	openReader(m, &reader{Title: cityName(m),
		Lines: func(w int) []string { return widget.WrapAll(cityDetails(m), w) }})
	return nil
}

// cityDetails returns the details of the whole city, its problems first.
func cityDetails(m *model) []string {
	var lines []string
	for _, a := range alerts(m) {
		for i, part := range strings.Split(a.Text, "\n") {
			sign := " "
			if i == 0 {
				sign = a.Sign(&m.look)
			}
			lines = append(lines, sign+" "+part)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, m.look.Paint(themes.Good, m.look.Glyphs.Done)+" no problems")
	}
	s := m.snap
	lines = append(lines, "",
		m.look.Field("folder", widget.Plain(s.Path)),
		m.look.Field("host", widget.Plain(s.Host)),
		m.look.Field("version", widget.Plain(s.Version)),
		m.look.Field("controller", fmt.Sprintf("pid %d, %s, up %s", s.PID,
			widget.Plain(describe.Mode(s.Mode)), widget.Age(m.now.Sub(s.Started)))),
		m.look.Field("config", fmt.Sprintf("revision %s, active since %s",
			widget.Plain(s.Config.Revision), widget.Clock(s.Config.Loaded, m.now))),
		m.look.Field("patrol", fmt.Sprintf("every %s, the last %s ago", s.Patrol.Interval,
			widget.Age(s.Patrol.Age(m.now)))),
		m.look.Field("events", fmt.Sprintf("%d so far", s.Seq)),
	)
	if h := heldConfig(m); h != nil {
		lines = append(lines, "", m.look.Paint(themes.Title, "Held configuration")+" "+
			widget.Plain(h.Revision)+", since "+widget.Clock(h.Since, m.now))
		lines = append(lines, heldLines(m, h, len(h.Removes))...)
	}
	if len(s.Rigs) > 0 {
		lines = append(lines, "", m.look.Paint(themes.Title, "Rigs"))
	}
	for i := range s.Rigs {
		lines = append(lines, details.Rig(m.details(), &s.Rigs[i]))
	}
	return lines
}

func openReader(m *model, r *reader) {
	r.Hints = func() []string { return readerKeys(m) }
	m.dialogs.Open(r)
}
