package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// keyPause is the maximum pause between two keys of one text. After a refusal users often keep typing before they
// notice.
const keyPause = 500 * time.Millisecond

// writes reports whether an action opens a text to type.
func writes(a *action) bool { return a.ID == "agent.send" || a.ID == mailID }

// typedAfterRefusal reports whether a key belongs to text that the user typed although sending was refused. Such a
// key is ignored, so that it does not run a verb.
func typedAfterRefusal(m *model, k tea.KeyPressMsg) bool {
	went := m.refusedText
	m.refusedText = time.Time{}
	if went.IsZero() || m.now.Sub(went) >= keyPause {
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
