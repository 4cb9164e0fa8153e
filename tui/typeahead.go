package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// breath is the longest pause between two letters of one text. Who is refused to write often types on before that
// is read.
const breath = 500 * time.Millisecond

// writes reports whether a text is typed when the action is not refused.
func writes(a *action) bool { return a.ID == "agent.send" || a.ID == mailID }

// blurted reports whether a key belongs to a text that nobody takes: it means nothing then, least of all a verb.
func blurted(m *model, k tea.KeyPressMsg) bool {
	went := m.refusedText
	m.refusedText = time.Time{}
	if went.IsZero() || m.now.Sub(went) >= breath {
		return false
	}
	if k.Code == tea.KeyEnter {
		return true
	}
	if k.Text != "" {
		m.refusedText = m.now
	}
	return k.Text != ""
}
