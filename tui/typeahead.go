package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// breath is the longest pause between two keys of one text. After a refusal users often keep typing before they
// notice.
const breath = 500 * time.Millisecond

// writes reports whether the user types a text after an action.
func writes(a *action) bool { return a.ID == "agent.send" || a.ID == mailID }

// blurted reports whether a key belongs to a text that was refused. Such a key is ignored, so that it does not run
// a verb.
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
