package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/actions"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// keyPause is the maximum time between two keys that are treated as parts of one text. Users often type several
// characters before they notice that sending is not possible.
const keyPause = 500 * time.Millisecond

func startsText(a *state.Action) bool {
	return a.ID == "agent.send" || a.ID == "peek.search" || a.ID == state.MailID
}

// typedAfterRejection reports whether a key is part of text that the user keeps typing although the text input could
// not be opened. Such a key is ignored, so that it does not run an action.
func typedAfterRejection(m *state.Room, k tea.KeyPressMsg) bool {
	if m.RejectedTextAt.IsZero() || m.Now.Sub(m.RejectedTextAt) >= keyPause {
		m.RejectedTextAt = time.Time{}
		return false
	}
	if k.Code == tea.KeyEnter {
		m.RejectedTextAt = time.Time{}
		return true
	}
	if k.Text != "" {
		m.RejectedTextAt = m.Now
	}
	return k.Text != ""
}

// typedForEndedSession reports whether a key was meant for the terminal of an agent that the user was attached to. That
// is the case if the agent's session ended during the attach, and the user has not stopped typing since. Such a key is
// ignored, so that it does not run an action.
func typedForEndedSession(m *state.Room, k tea.KeyPressMsg) bool {
	switch {
	case !m.SessionEnded:
		return false
	case m.Now.Sub(m.StrayKeyAt) >= keyPause || k.Code == tea.KeyEscape:
		m.SessionEnded = false
		return false
	}
	m.StrayKeyAt = m.Now
	const note = "; keys typed for it did nothing"
	m.Status.Text = strings.TrimSuffix(m.Status.Text, note) + note
	return true
}

// answerWindow is how long after an action the key "y" is treated as an attempt to confirm that action.
const answerWindow = 2 * time.Second

// answersMissingQuestion reports whether a key was meant to confirm the latest action, although that action did not ask
// for confirmation. Such a key is ignored, because otherwise it would open the list of things to copy.
func answersMissingQuestion(m *state.Room, k tea.KeyPressMsg) bool {
	at := m.UnaskedAt
	m.UnaskedAt = time.Time{}
	if k.String() != "y" || at.IsZero() || m.Now.Sub(at) >= answerWindow {
		return false
	}
	if !m.Status.Failed && !m.Status.Note { // these already say why there was no question
		m.Status.Text += "; there was no question, so y did nothing"
	}
	return true
}

// quoted returns a typed key in quotation marks, because a key such as - or ; reads as a part of the sentence.
func quoted(k tea.KeyPressMsg) string { return `"` + widget.Plain(k.Text) + `"` }

// explainKey shows that a typed key does nothing here, and names a panel in which it works.
func explainKey(m *state.Room, k tea.KeyPressMsg) {
	if k.Text == "" || m.Status.Failed || m.Status.Pending {
		return
	}
	text := quoted(k) + " does nothing here"
	for _, p := range m.Panels {
		about := p.About()
		if a := m.Keys.Find(k, about.Zone); a != nil && !actions.Unseen(m, a) {
			text = fmt.Sprintf("%s works in %s (press %s): %s", quoted(k), about.Title,
				m.Keys.KeyText("focus."+string(about.ID)), keymap.Verb(a.Title()))
			break
		}
	}
	state.ShowNote(m, text+"; "+m.Keys.KeyText("view.help")+" lists the keys")
}

func explainFleetKey(m *state.Room, k tea.KeyPressMsg) {
	if k.Text == "" || m.Status.Failed || m.Status.Pending {
		return
	}
	text := quoted(k) + " does nothing here"
	if a := m.Keys.Find(k, keymap.Everywhere); a != nil {
		text = fmt.Sprintf("%s only works in a city (press %s): %s", quoted(k),
			m.Keys.KeyText("fleet.open"), keymap.Verb(a.Title()))
	}
	state.ShowNote(m, text+"; "+m.Keys.KeyText("fleet.verbs")+" lists the keys")
}
