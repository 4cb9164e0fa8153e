package view

import (
	"time"

	"gcity/themes"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// StatusRows returns the rows above the footer: one, or more for a long failure.
func StatusRows(m *state.Room, w int) []string {
	parts := state.FailureParts(m, w)
	if len(parts) <= 1 {
		return []string{statusLine(m, w)}
	}
	rows := make([]string, len(parts))
	for i, text := range parts {
		l := widget.Line{Styles: &m.Look}
		sign, tail := " ", ""
		if i == 0 {
			sign = m.Look.Glyphs.Failed
		}
		l.Add(themes.Bad, " "+sign+" ")
		if i == len(parts)-1 {
			tail = state.DismissHint(m)
		}
		l.Add(themes.Bad, widget.Cut(text, w-l.Width-widget.Width(tail), m.Look.Glyphs.More))
		l.Add(themes.Dim, tail)
		rows[i] = widget.Crop(l.Fill(w), w)
	}
	return rows
}

func statusLine(m *state.Room, w int) string {
	l := widget.Line{Styles: &m.Look}
	s := &m.Status
	if text := state.DepartureText(m); text != "" && !s.Failed {
		l.Add(themes.Busy, " "+m.Look.Glyphs.Leaving+" ")
		tail := "  " + m.Keys.KeyText("view.back") + " cancels"
		l.Add(themes.Text, widget.Cut(text, w-l.Width-widget.Width(tail), m.Look.Glyphs.More))
		l.Add(themes.Dim, tail)
		return widget.Crop(l.Fill(w), w)
	}
	if s.Text == "" || !s.Failed && !s.Pending && m.Now.Sub(s.Since) > state.StatusDuration {
		return l.Fill(w)
	}
	sign := m.Look.Glyphs.OK
	tail := ""
	switch {
	case s.Failed:
		sign, tail = m.Look.Glyphs.Failed, state.DismissHint(m)
	case s.Token == themes.Warn:
		sign = m.Look.Glyphs.Alert
	case !s.Pending && !m.ReducedMotion && m.Now.Sub(s.Since) >= state.StatusDuration/4:
		// Show the age, because a time in the text might be outdated.
		tail = "  " + widget.Age(m.Now.Sub(s.Since)) + " ago"
	}
	if !s.Failed && (s.Pending || s.Token == themes.Busy) {
		sign = m.Look.Glyphs.Starting
		if d := m.Now.Sub(s.Since); s.Pending && d >= 2*time.Second {
			tail = "  " + widget.Age(d)
		}
	}
	tail += state.UndoHint(m)
	l.Add(s.Token, " "+sign+" ")
	room := max(0, w-l.Width-widget.Width(tail)-1)
	body := themes.Text
	if s.Failed {
		body = themes.Bad
	}
	l.Add(body, widget.Cut(s.Text, room, m.Look.Glyphs.More))
	if l.Width+widget.Width(tail) < w {
		l.Add(themes.Dim, tail)
	}
	return l.Fill(w)
}
