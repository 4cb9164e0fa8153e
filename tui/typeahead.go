package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
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

// habit is how long after an action a "y" is taken as the answer to a question that the action did not ask.
const habit = 2 * time.Second

// answersNothing reports whether a key was meant to answer a question that the last action did not ask. The key is
// ignored, because it would open the list of texts to copy.
func answersNothing(m *model, k tea.KeyPressMsg) bool {
	at := m.unasked
	m.unasked = time.Time{}
	if k.String() != "y" || at.IsZero() || m.now.Sub(at) >= habit {
		return false
	}
	m.status.text += "; there was no question, so y did nothing"
	return true
}

// explainKey shows why a typed key does nothing: it belongs to other panels, or to none.
func explainKey(m *model, k tea.KeyPressMsg) {
	if k.Text == "" || m.status.failed || m.status.pending {
		return
	}
	text := widget.Plain(k.Text) + " does nothing here"
	for _, p := range m.Panels {
		about := p.About()
		if a := m.keys.Find(k, about.Zone); a != nil && !unseen(m, a) {
			text = fmt.Sprintf("%s works in %s (press %s): %s", k.Text, about.Title,
				m.keys.KeyOf("focus."+string(about.ID)), keymap.Verb(a.Title()))
			break
		}
	}
	show(m, text+"; "+m.keys.KeyOf("view.help")+" lists the keys", false)
	focus := m.focus
	m.status.token, m.status.note = themes.Warn, true
	m.status.while = func(m *model) bool {
		return m.focus == focus && m.now.Sub(m.status.since) < noteFor
	}
}

// noteFor is how long a note about a key is shown, unless another key runs an action first.
const noteFor = 10 * time.Second
