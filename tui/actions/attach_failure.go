package actions

import (
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// Attaches reports whether an action would attach the terminal to an agent. In the zoom, it returns false for a held
// agent, so that the failure is shown in the status line. The failure names the key that releases the agent, and that
// key would not work in a dialog.
func Attaches(m *state.Room, a *state.Action) bool {
	if a.ID == "agent.attach.zoomed" {
		r := state.SingleAgent(m)
		return m.Zoomed && (r == nil || !r.Held())
	}
	return a.ID == "agent.attach"
}

// ReportNotAttached shows in a dialog why the terminal is not attached to an agent. Without the dialog, keys that the
// user types for the agent would run verbs. The dialog counts as visible from since on; zero = from the room's next
// update.
func ReportNotAttached(m *state.Room, why string, since time.Time) {
	m.Status = state.Status{}
	state.Record(m, details.Message{Text: widget.FirstItem(why), Token: themes.Bad})
	text := widget.FirstItem(why)
	if r := state.SingleAgent(m); r != nil {
		text = strings.TrimSuffix(text, releaseHint(m, r)) // the key does not work in a dialog
	}
	if rest, ok := strings.CutPrefix(text, "cannot "); ok {
		text = "Cannot " + rest
	}
	m.Dialogs.Open(&state.Choice{Title: "Not attached",
		Body:    []string{strings.TrimSuffix(text, ".") + "."},
		Answers: []state.Answer{{Key: "q", Title: "close", Safe: true}}, Since: since})
}
