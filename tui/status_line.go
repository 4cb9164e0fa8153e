package tui

import (
	"gcity/themes"
	"gcity/tui/widget"
	"time"
)

// statusRows returns the rows above the footer: one, or more for a long failure if there is enough room.
func statusRows(m *model, w int) []string {
	parts := failureParts(m, w)
	if len(parts) <= 1 {
		return []string{statusLine(m, w)}
	}
	rows := make([]string, len(parts))
	for i, text := range parts {
		l := widget.Line{Styles: &m.look}
		sign, tail := " ", ""
		if i == 0 {
			sign = m.look.Glyphs.Failed
		}
		l.Add(themes.Bad, " "+sign+" ")
		if i == len(parts)-1 {
			tail = dismisses(m)
		}
		l.Add(themes.Bad, widget.Cut(text, w-l.Width-widget.Width(tail), m.look.Glyphs.More))
		l.Add(themes.Dim, tail)
		rows[i] = widget.Crop(l.Fill(w), w)
	}
	return rows
}

func statusLine(m *model, w int) string {
	l := widget.Line{Styles: &m.look}
	s := &m.status
	if text := departureText(m); text != "" && !s.failed {
		l.Add(themes.Busy, " "+m.look.Glyphs.Leaving+" ")
		tail := "  " + m.keys.KeyOf("view.back") + " stays"
		l.Add(themes.Text, widget.Cut(text, w-l.Width-widget.Width(tail), m.look.Glyphs.More))
		l.Add(themes.Dim, tail)
		return widget.Crop(l.Fill(w), w)
	}
	if s.text == "" || !s.failed && !s.pending && m.now.Sub(s.since) > fade {
		return l.Fill(w)
	}
	sign := m.look.Glyphs.Done
	tail := ""
	switch {
	case s.failed:
		sign, tail = m.look.Glyphs.Failed, dismisses(m)
	case s.token == themes.Warn:
		sign = m.look.Glyphs.Alert
	case !s.pending && !m.calm && m.now.Sub(s.since) >= fade/4:
		// Show the age, because a time in the text may be outdated.
		tail = "  " + widget.Age(m.now.Sub(s.since)) + " ago"
	}
	if !s.failed && (s.pending || s.token == themes.Busy) {
		sign = m.look.Glyphs.Starting
		if d := m.now.Sub(s.since); s.pending && d >= 2*time.Second {
			tail = "  " + widget.Age(d)
		}
	}
	if m.undo.id == s.id {
		tail += undoHint(m)
	}
	l.Add(s.token, " "+sign+" ")
	room := max(0, w-l.Width-widget.Width(tail)-1)
	body := themes.Text
	if s.failed {
		body = themes.Bad
	}
	l.Add(body, widget.Cut(s.text, room, m.look.Glyphs.More))
	if l.Width+widget.Width(tail) < w {
		l.Add(themes.Dim, tail)
	}
	return l.Fill(w)
}
