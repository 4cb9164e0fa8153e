package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

func showEvent(m *model) []effect {
	row := *m.Events.Selected()
	m.read(&reader{Title: row.Kind, About: eventAgent(agentOf(m, &row.Event)),
		Lines: func(w int) []string { return widget.WrapAll(eventDetail(m, &row), w) }})
	return nil
}

// showDetails is about what verbs act on, or the agent that it stands for.
func showDetails(m *model) []effect {
	if id := m.worked().About().Details; id != "" {
		return m.keys.ByID(id).Run(m)
	}
	return showAgent(m)
}

func showPool(m *model) []effect {
	p := pool(m)
	name := p.Name
	m.read(&reader{Title: "pool " + p.Shown,
		Lines: func(w int) []string { return widget.WrapAll(poolDetails(m, name), w) }})
	return nil
}

func showCity(m *model) []effect {
	m.read(&reader{Title: cityName(m),
		Lines: func(w int) []string { return widget.WrapAll(cityDetails(m), w) }})
	return nil
}

// cityDetails is what is known of the city as a whole, its problems first.
func cityDetails(m *model) []string {
	var lines []string
	for _, p := range problems(m) {
		for i, part := range strings.Split(p, "\n") {
			sign := " "
			if i == 0 {
				sign = m.look.Paint(themes.Bad, m.look.Glyphs.Alert)
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
		m.look.Field("controller", fmt.Sprintf("pid %d, %s, up %s", s.PID, widget.Plain(s.Mode),
			widget.Age(m.now.Sub(s.Started)))),
		m.look.Field("config", fmt.Sprintf("revision %s, in force since %s",
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
		lines = append(lines, rigLine(m, &s.Rigs[i]))
	}
	return lines
}

// rigLine is a project folder, and how those that work in it are.
func rigLine(m *model, r *city.Rig) string {
	dot := " " + m.look.Glyphs.Dot + " "
	text := widget.Plain(r.Name) + dot +
		fmt.Sprintf("%d of %s run", r.Running, widget.Count(r.Agents, "agent")) + dot +
		widget.Plain(r.Path)
	if r.Suspended {
		text += dot + "suspended"
	}
	if r.Problem != "" {
		text += dot + m.look.Paint(themes.Bad, widget.Plain(r.Problem))
	}
	return text
}

// eventDetail is all there is to know of one event.
func eventDetail(m *model, r *panel.EventRow) []string {
	e := &r.Event
	lines := []string{
		m.look.Field("when", e.TS.In(m.now.Location()).Format(time.RFC3339Nano)+", "+
			widget.Age(m.now.Sub(e.TS))+" ago"),
		m.look.Field("about", r.Subject),
		m.look.Field("by", widget.Plain(e.Actor)),
	}
	label := "message"
	for _, text := range widget.PlainLines(e.Message) {
		lines = append(lines, m.look.Field(label, text))
		label = ""
	}
	lines = append(lines, m.look.Field("seq", fmt.Sprint(e.Seq)))
	return append(lines, payloadLines(m, e.Payload)...)
}
