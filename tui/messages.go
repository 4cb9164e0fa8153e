package tui

import (
	"slices"

	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// keptMessages is the maximum number of stored messages.
const keptMessages = 200

// record stores a message. The result of an action replaces the message about its start.
func record(m *model, s details.Message) {
	s.At = m.now
	if s.ID != 0 {
		for i := len(m.messages) - 1; i >= 0; i-- {
			if m.messages[i].ID == s.ID {
				m.messages = slices.Delete(m.messages, i, i+1)
				break
			}
		}
	}
	if over := len(m.messages) + 1 - keptMessages; over > 0 {
		m.messages = slices.Delete(m.messages, 0, over)
	}
	m.messages = append(m.messages, s)
}

// messageActions returns the actions about past messages.
func messageActions() []action {
	return []action{
		{ID: "view.messages",
			Key: keymap.Bind("messages: show past status lines, with the result of each target"),
			In:  []keymap.Zone{keymap.Everywhere},
			Run: showMessages},
		{ID: "verb.undo", Key: keymap.Bind("undo the last verb, within 10 s"),
			In: []keymap.Zone{keymap.Everywhere}, Why: needUndo, Run: takeBack},
	}
}

// showMessages shows past messages, the newest at the end.
func showMessages(m *model) []feed.Effect {
	m.read(&reader{Title: "Messages", Offset: widget.Far, Lines: func(w int) []string {
		return details.MessageLines(&m.look, m.messages, m.now, w)
	}})
	return nil
}
