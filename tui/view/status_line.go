package view

import (
	"time"

	"gcity/themes"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// StatusRows returns the rows above the footer: one, or more for a long text.
func StatusRows(m *state.Room, w int) []string {
	parts, hint := state.StatusParts(m, w)
	if len(parts) == 0 {
		l := widget.Line{Styles: &m.Look}
		return []string{l.Fill(w)}
	}
	sign, token := statusSign(m)
	body := themes.Text
	if token == themes.Bad {
		body = themes.Bad
	}
	rows := make([]string, len(parts))
	for i, text := range parts {
		l := widget.Line{Styles: &m.Look}
		tail := ""
		if i == len(parts)-1 {
			tail = hint
		}
		if len(parts) == 1 {
			if age := statusAge(m); widget.Width(age+text+tail)+4 <= w {
				tail = age + tail
			}
		}
		l.Add(token, " "+sign+" ")
		sign = " "
		l.Add(body, widget.Cut(text, max(0, w-l.Width-widget.Width(tail)), m.Look.Glyphs.More))
		if l.Width+widget.Width(tail) <= w {
			l.Add(themes.Dim, tail)
		}
		rows[i] = widget.Crop(l.Fill(w), w)
	}
	return rows
}

func statusSign(m *state.Room) (string, themes.Token) {
	switch s := &m.Status; {
	case s.Failed:
		return m.Look.Glyphs.Failed, themes.Bad
	case state.DepartureText(m) != "":
		return m.Look.Glyphs.Leaving, themes.Busy
	case s.Pending, s.Token == themes.Busy:
		return m.Look.Glyphs.Starting, s.Token
	case s.Token == themes.Warn:
		return m.Look.Glyphs.Alert, s.Token
	default:
		return m.Look.Glyphs.OK, s.Token
	}
}

// statusAge returns the status line's age, or "". It is shown because a time in the text might be outdated.
func statusAge(m *state.Room) string {
	s := &m.Status
	age := m.Now.Sub(s.Since)
	switch {
	case s.Failed, state.DepartureText(m) != "":
		return ""
	case s.Pending && age >= 2*time.Second:
		return "  " + widget.Age(age)
	case s.Pending, s.Token == themes.Warn, m.ReducedMotion,
		age < state.StatusDuration/4:
		return ""
	}
	return "  " + widget.Age(age) + " ago"
}
