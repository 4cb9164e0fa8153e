package tui

import (
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// status is the line that shows the result of the last action.
type status struct {
	id      int // ID of the awaited action
	text    string
	token   themes.Token
	failed  bool // the status reports a failure and stays until the user dismisses it
	pending bool
	note    bool // the status is about a key that does nothing; the next action removes it
	since   time.Time
	while   func(m *model) bool // shown while it is true, nil = always
	starts  panel.Starts
}

// fade is how long a success is shown.
const fade = 10 * time.Second

func say(m *model, text string) {
	show(m, text, false)
	record(m, details.Message{Text: m.status.text, Token: themes.Good})
}

func complain(m *model, text string) {
	show(m, text, true)
	record(m, details.Message{Text: m.status.text, Token: themes.Bad})
}

// show sets the status line. A failure stays until the user dismisses it.
func show(m *model, text string, failed bool) {
	m.status = status{text: widget.Lead(text), token: themes.Good, failed: failed, since: m.now}
	if failed {
		m.status.token = themes.Bad
	}
}

// begin shows that an action is in progress and returns the ID of its result.
func begin(m *model, text string) int {
	m.actions++
	m.status = status{id: m.actions, text: widget.Plain(text), token: themes.Busy, pending: true,
		since: m.now}
	record(m, details.Message{ID: m.actions, Text: m.status.text, Token: themes.Busy})
	return m.actions
}

// ended handles the result of an action. For an action that is not the latest it shows only failures.
func ended(m *model, r feed.Result) {
	if r.ID == m.fired.id && len(r.Failures) > 0 {
		m.fired = firing{}
	}
	defer firedEnded(m)
	undelivered(m, &r)
	outdate(m) // any action may change beads
	if r.Quiet && len(r.Failures) == 0 {
		return
	}
	offerAnew(m, &r)
	refusedToDepart(m, &r)
	text, failed := r.Text(), len(r.Failures) > 0
	if k := m.keys.KeyNow("view.palette"); r.Total > 1 && k != "" {
		text += " (see " + k + "messages)"
	}
	if len(r.Letters) > 0 {
		if post(m, r); !failed {
			return
		}
	}
	s := details.Message{ID: r.ID, Text: widget.Lead(r.Text()), Token: themes.Good,
		Each: r.Each()}
	if failed {
		s.Token = themes.Bad
	}
	record(m, s)
	if r.ID == m.status.id || failed {
		starts := m.status.starts
		show(m, text, failed)
		m.status.id, m.status.starts = r.ID, starts
	}
}

// isFresh reports whether the status line is still shown. It limits failures that need no answer.
func isFresh(m *model) bool { return m.now.Sub(m.status.since) <= fade }

// noteCrash replaces the displayed result of an action if an agent that the action started has crashed since.
func noteCrash(m *model) {
	s := &m.status
	shown := !s.pending && !s.failed && m.now.Sub(s.since) <= fade
	if text := s.starts.Crashed(m.Agents); shown && text != "" {
		complain(m, text)
		m.status.while = isFresh
	}
}

func dismisses(m *model) string { return "  " + m.keys.KeyOf("view.back") + " dismisses" }

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

// failureParts wraps a failure into rows, or returns nil.
func failureParts(m *model, w int) []string {
	if !m.status.failed || m.typing() || w < 40 {
		return nil
	}
	parts := widget.Wrap(m.status.text, w-4)
	if last := len(parts) - 1; widget.Width(parts[last])+3+widget.Width(dismisses(m)) > w {
		parts = append(parts, "")
	}
	if most := max(2, m.h/8); len(parts) > most {
		parts[most-1] = strings.Join(parts[most-1:], " ")
		parts = parts[:most]
	}
	return parts
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

// send runs tasks. Until they end, the status line shows the texts doing and what.
func send(m *model, doing, what string, tasks ...feed.Task) []feed.Effect {
	id := begin(m, doing+" "+what+" "+m.look.Glyphs.More)
	m.undo = undo{}
	return []feed.Effect{feed.RunTasks{ID: id, Title: doing, Tasks: tasks}}
}
