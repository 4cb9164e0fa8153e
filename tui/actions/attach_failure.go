package actions

import (
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// Attaches reports whether an action would attach the terminal to an agent.
func Attaches(m *state.Room, a *state.Action) bool {
	return a.ID == "agent.attach" || a.ID == "agent.attach.zoomed" && m.Zoomed
}

// ReportNotAttached shows in a dialog why the terminal is not attached to an agent. Without the dialog, keys for the
// agent would run verbs. If since is zero, the dialog is visible with the next message.
func ReportNotAttached(m *state.Room, why string, since time.Time) {
	m.Status = state.Status{}
	state.Record(m, details.Message{Text: widget.FirstItem(why), Token: themes.Bad})
	body := []string{widget.FirstItem(why)}
	if r := state.SingleAgent(m); r != nil {
		hint := releaseHint(m, r)
		if text, ok := strings.CutSuffix(body[0], hint); ok && hint != "" {
			body = []string{text, "After you close this, " + strings.TrimPrefix(hint, "; ") + "."}
		}
	}
	m.Dialogs.Open(&state.Choice{Title: "Not attached", Body: body,
		Answers: []state.Answer{{Key: "q", Title: "close", Safe: true}}, Since: since})
}
