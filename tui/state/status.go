package state

import (
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/widget"
)

// Status is the line that shows the result of the latest action.
type Status struct {
	ID      int // ID of the awaited action
	Text    string
	Token   themes.Token
	Failed  bool // stays until the user dismisses it
	Pending bool
	Note    bool // a note about a key that does nothing; the next action clears it
	Since   time.Time
	While   func(m *Room) bool // shown while it returns true; nil = always
	Starts  Starts
}

// StatusDuration is how long a success is shown.
const StatusDuration = 10 * time.Second

// ShowSuccess shows a success in the status line and stores the message.
func ShowSuccess(m *Room, text string) {
	Show(m, text, false)
	Record(m, details.Message{Text: m.Status.Text, Token: themes.Good})
}

// ShowFailure shows a failure in the status line and stores the message.
func ShowFailure(m *Room, text string) {
	Show(m, text, true)
	Record(m, details.Message{Text: m.Status.Text, Token: themes.Bad})
}

// Show sets the status line. A failure stays until the user dismisses it.
func Show(m *Room, text string, failed bool) {
	m.Status = Status{Text: widget.FirstItem(text), Token: themes.Good, Failed: failed,
		Since: m.Now}
	if failed {
		m.Status.Token = themes.Bad
	}
}

// ShowNote shows why a key does nothing.
func ShowNote(m *Room, text string) {
	Show(m, text, false)
	focus := m.Focus
	m.Status.Token, m.Status.Note = themes.Warn, true
	m.Status.While = func(m *Room) bool {
		return m.Focus == focus && m.Now.Sub(m.Status.Since) < NoteDuration
	}
}

// NoteDuration is how long a note is shown.
const NoteDuration = 10 * time.Second

// BeginAction shows that an action is in progress. It returns the ID of the action.
func BeginAction(m *Room, text string) int {
	m.Actions++
	m.Status = Status{ID: m.Actions, Text: widget.Plain(text), Token: themes.Busy, Pending: true,
		Since: m.Now}
	Record(m, details.Message{ID: m.Actions, Text: m.Status.Text, Token: themes.Busy})
	return m.Actions
}

// IsFresh reports whether the status line is recent enough to show a success.
func IsFresh(m *Room) bool { return m.Now.Sub(m.Status.Since) <= StatusDuration }

// NoteCrash shows a crash in place of the result of the action that started the agent.
func NoteCrash(m *Room) {
	s, starts := &m.Status, m.Status.Starts
	text := starts.Crashed(m.Agents)
	replaces := !s.Pending && (!s.Failed || s.While != nil) && IsFresh(m)
	if replaces && text != "" && text != s.Text {
		ShowFailure(m, text)
		m.Status.Starts = starts
		m.Status.While = func(m *Room) bool {
			return IsFresh(m) && starts.Crashed(m.Agents) != ""
		}
	}
}

// UntilConfigValid returns a Status.While function for a failure with the given text. A failure about the configuration
// stays until the city accepts a configuration.
func UntilConfigValid(text string) func(m *Room) bool {
	caused := false
	return func(m *Room) bool {
		rejected := ""
		if m.Snap != nil {
			rejected = widget.FirstItem(m.Snap.Config.Rejected)
		}
		caused = caused || rejected != "" && strings.Contains(text, rejected)
		return !caused || rejected != ""
	}
}

// ReportNotFound shows, until the next search, that the output does not match.
func ReportNotFound(m *Room) {
	text := m.Peek.Search.Text
	ShowFailure(m, "not found: "+text)
	m.Status.While = func(m *Room) bool { return m.Peek.Search.Text == text }
}
