package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// keyPause is the maximum pause between two keys of one text. After a refusal users often keep typing before they
// notice.
const keyPause = 500 * time.Millisecond

// writes reports whether an action starts a text that the user types.
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

// habit is how long after an action a "y" counts as the answer to a question that the action did not ask.
const habit = 2 * time.Second

// answersNothing reports whether a key was meant for a question of the last action, which did not ask. Such a key is
// ignored, so that it does not open the list of texts to copy.
func answersNothing(m *model, k tea.KeyPressMsg) bool {
	at := m.unasked
	m.unasked = time.Time{}
	if k.String() != "y" || at.IsZero() || m.now.Sub(at) >= habit {
		return false
	}
	m.status.text += "; there was no question, so y did nothing"
	return true
}
