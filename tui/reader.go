package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

func (m *model) showEvent() []effect {
	row := *m.Events.Selected()
	m.read(&reader{Title: row.Kind, About: eventAgent(m.agentOf(&row.Event)),
		Lines: func(w int) []string { return widget.WrapAll(m.eventDetail(&row), w) }})
	return nil
}

// showDetails is about what verbs act on, or the agent that it stands for.
func (m *model) showDetails() []effect {
	if id := m.worked().About().Details; id != "" {
		return m.keys.ByID(id).Run(m)
	}
	return m.showAgent()
}

func (m *model) showPool() []effect {
	p := m.pool()
	name := p.Name
	m.read(&reader{Title: "pool " + p.Shown,
		Lines: func(w int) []string { return widget.WrapAll(m.poolDetails(name), w) }})
	return nil
}

func (m *model) showCity() []effect {
	m.read(&reader{Title: m.cityName(),
		Lines: func(w int) []string { return widget.WrapAll(m.cityDetails(), w) }})
	return nil
}

// cityDetails is what is known of the city as a whole, its problems first.
func (m *model) cityDetails() []string {
	var lines []string
	for _, p := range m.problems() {
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
	if h := m.held(); h != nil {
		lines = append(lines, "", m.look.Paint(themes.Title, "Held configuration")+" "+
			widget.Plain(h.Revision)+", since "+widget.Clock(h.Since, m.now))
		lines = append(lines, m.heldLines(h, len(h.Removes))...)
	}
	if len(s.Rigs) > 0 {
		lines = append(lines, "", m.look.Paint(themes.Title, "Rigs"))
	}
	for i := range s.Rigs {
		lines = append(lines, m.rigLine(&s.Rigs[i]))
	}
	return lines
}

// rigLine is a project folder, and how those that work in it are.
func (m *model) rigLine(r *city.Rig) string {
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

// pretty indents a JSON value, and gives it as it is if it is none.
func pretty(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// eventDetail is all there is to know of one event.
func (m *model) eventDetail(r *panel.EventRow) []string {
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
	return append(lines, m.payloadLines(e.Payload)...)
}
