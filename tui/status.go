package tui

import (
	"time"

	"gcity/themes"
	"gcity/tui/details"
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
