package tui

import (
	"slices"

	"gcity/tui/details"
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
