package actions

import (
	"fmt"
	"strings"

	"gcity/describe"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func showEvent(m *state.Room) []feed.Effect {
	row := *m.Events.Selected()
	openReader(m, &state.Reader{Title: row.Kind, About: state.EventAgent(agentOf(m, &row.Event)),
		Lines: func(w int) []string {
			return widget.WrapAll(details.Event(m.Details(), &row), w)
		}})
	return nil
}

// showDetails shows details of the object that verbs act on, or of the agent that the object refers to.
func showDetails(m *state.Room) []feed.Effect {
	if id := m.Worked().About().Details; id != "" {
		return m.Keys.ByID(id).Run(m)
	}
	return showAgent(m)
}

func showPool(m *state.Room) []feed.Effect {
	p := state.Pool(m)
	name := p.Name
	openReader(m, &state.Reader{Title: "pool " + p.Shown,
		Lines: func(w int) []string {
			return widget.WrapAll(details.Pool(m.Details(), name), w)
		}})
	return nil
}

func showCity(m *state.Room) []feed.Effect {
	openReader(m, &state.Reader{Title: state.CityName(m),
		Lines: func(w int) []string { return widget.WrapAll(cityDetails(m), w) }})
	return nil
}

// cityDetails returns the details of the whole city, its problems first.
func cityDetails(m *state.Room) []string {
	var lines []string
	for _, a := range state.Alerts(m) {
		for i, part := range strings.Split(a.Text, "\n") {
			sign := " "
			if i == 0 {
				sign = a.Sign(&m.Look)
			}
			lines = append(lines, sign+" "+part)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, m.Look.Paint(themes.Good, m.Look.Glyphs.Done)+" no problems")
	}
	s := m.Snap
	lines = append(lines, "",
		m.Look.Field("folder", widget.Plain(s.Path)),
		m.Look.Field("host", widget.Plain(s.Host)),
		m.Look.Field("version", widget.Plain(s.Version)),
		m.Look.Field("controller", fmt.Sprintf("pid %d, %s, up %s", s.PID,
			widget.Plain(describe.Mode(s.Mode)), widget.Age(m.Now.Sub(s.Started)))),
		m.Look.Field("config", fmt.Sprintf("revision %s, active since %s",
			widget.Plain(s.Config.Revision), widget.Clock(s.Config.Loaded, m.Now))),
		m.Look.Field("patrol", fmt.Sprintf("every %s, the last %s ago", s.Patrol.Interval,
			widget.Age(s.Patrol.Age(m.Now)))),
		m.Look.Field("events", fmt.Sprintf("%d so far", s.Seq)),
	)
	if h := HeldConfig(m); h != nil {
		lines = append(lines, "", m.Look.Paint(themes.Title, "Held configuration")+" "+
			widget.Plain(h.Revision)+", since "+widget.Clock(h.Since, m.Now))
		lines = append(lines, HeldLines(m, h, len(h.Removes))...)
	}
	if len(s.Rigs) > 0 {
		lines = append(lines, "", m.Look.Paint(themes.Title, "Rigs"))
	}
	for i := range s.Rigs {
		lines = append(lines, details.Rig(m.Details(), &s.Rigs[i]))
	}
	return lines
}

func openReader(m *state.Room, r *state.Reader) {
	r.Hints = func() []string { return readerKeys(m) }
	m.Dialogs.Open(r)
}
