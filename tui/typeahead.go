package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/themes"
	"gcity/tui/actions"
	"gcity/tui/details"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// keyPause is the maximum time between two keys that are treated as parts of one text.
const keyPause = 500 * time.Millisecond

func startsText(a *state.Action) bool {
	return slices.Contains([]string{"agent.send", "agent.attach.zoomed", "peek.search",
		"pool.scale", "mail.reply", state.MailID, "work.sling", state.SlingID}, a.ID)
}

// typedAfterRejection reports whether the user is still typing text for an input that gcity refused to open or that
// closed by itself.
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

// targetVanished reports whether an action was meant for the row under the cursor that has just vanished, so that it
// would act on a row that the user might not have seen. After removing a row, the user expects to act on the next one.
func targetVanished(m *state.Room, a *state.Action) bool {
	gone := m.ActionPanel().Vanished(m.Now)
	if m.Dialogs.Top() != nil || gone == "" || gone == m.RemovedKey {
		return false
	}
	undoes := state.Undoable(m) && (a.ID == state.ReleaseID || a.ID == "mail.unread")
	return actions.ActsOnRow(m, a) && !undoes && !ignoresRow(a)
}

// ignoresRow reports whether an action of a list acts on none of its rows.
func ignoresRow(a *state.Action) bool {
	return a.ID == "mail.write" || a.ID == "mail.others" || a.ID == "work.create"
}

// removesRow reports whether an action removes the rows that it acts on.
func removesRow(a *state.Action) bool {
	return a.ID == "mail.archive" || a.ID == "reader.archive" || a.ID == "work.finish"
}

func vanishedText(m *state.Room, a *state.Action) string {
	p := m.ActionPanel()
	text := widget.Plain(p.Vanished(m.Now)) + " is gone; press " + m.Keys.KeyText(a.ID) + " again"
	// some actions act on the marked rows, others on the row under the cursor
	if len(*p.Marking().Marks) > 0 {
		return text
	}
	return text + " to act on " + p.Called()
}

// typedForEndedSession reports whether a key was meant for an agent's session that ended during the attach.
func typedForEndedSession(m *state.Room, k tea.KeyPressMsg) bool {
	switch {
	case !m.SessionEnded:
		return false
	case m.Now.Sub(m.StrayKeyAt) >= keyPause || k.Code == tea.KeyEscape:
		m.SessionEnded = false
		return false
	}
	m.StrayKeyAt = m.Now
	const note = "; the keys you typed for it had no effect"
	m.Status.Text = strings.TrimSuffix(m.Status.Text, note) + note
	return true
}

// answerWindow is how long after an action the key "y" is treated as an attempt to confirm that action.
const answerWindow = 2 * time.Second

// answersMissingQuestion reports whether a key was meant for a question that was not asked or that closed by itself.
// The key would otherwise open the list of things to copy.
func answersMissingQuestion(m *state.Room, k tea.KeyPressMsg) bool {
	at := m.UnaskedAt
	m.UnaskedAt = time.Time{}
	if k.String() != "y" || at.IsZero() || m.Now.Sub(at) >= answerWindow {
		return false
	}
	// the status line keeps the result of the action
	state.Record(m, details.Message{Text: "y did nothing: no question was open",
		Token: themes.Dim})
	return true
}

// quoted returns a typed key in quotation marks. Without them, a key such as - or ; might look like punctuation.
func quoted(k tea.KeyPressMsg) string {
	text := k.Text
	if text == "" { // a function key, or a key that was pressed together with ctrl or alt
		text = k.String()
	}
	return `"` + widget.Plain(text) + `"`
}

func explainKey(m *state.Room, k tea.KeyPressMsg) {
	if k.Code == tea.KeyEscape || m.Status.Failed || m.Status.Pending {
		return
	}
	text, help, panels := quoted(k)+" does nothing here", "view.help", m.Panels
	if m.FleetRoom {
		help, panels = "fleet.verbs", nil
		if a := m.Keys.Find(k, keymap.Everywhere); a != nil {
			text = fmt.Sprintf("%s only works in a city (press %s): %s", quoted(k),
				m.Keys.KeyText("fleet.open"), keymap.Verb(a.Title()))
		}
	}
	for _, p := range panels {
		about := p.About()
		if a := m.Keys.Find(k, about.Zone); a != nil && !actions.Unseen(m, a) {
			text = fmt.Sprintf("%s works in %s (press %s): %s", quoted(k), about.Title,
				m.Keys.KeyText("focus."+string(about.ID)), keymap.Verb(a.Title()))
			break
		}
	}
	state.ShowNote(m, text+"; "+m.Keys.KeyText(help)+" lists the keys")
}
