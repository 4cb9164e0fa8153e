package state

import (
	"slices"

	"gcity/tui/details"
)

// KeptMessages is the maximum number of stored messages.
const KeptMessages = 200

// Record stores a message. The result of an action replaces the message about its start.
func Record(m *Room, s details.Message) {
	s.At = m.Now
	if s.ID != 0 {
		for i := len(m.Messages) - 1; i >= 0; i-- {
			if m.Messages[i].ID == s.ID {
				m.Messages = slices.Delete(m.Messages, i, i+1)
				break
			}
		}
	}
	if over := len(m.Messages) + 1 - KeptMessages; over > 0 {
		m.Messages = slices.Delete(m.Messages, 0, over)
	}
	m.Messages = append(m.Messages, s)
}
