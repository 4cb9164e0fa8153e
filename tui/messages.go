package tui

import (
	"slices"
	"time"

	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// message is one text that the status line has shown.
type message struct {
	id    int // ID of the action that it reports; 0 = none
	at    time.Time
	text  string
	token themes.Token
	each  []string // result for each target, if there were several
}

// keptMessages is the maximum number of stored messages.
const keptMessages = 200

// record stores a message. The result of an action replaces the message of its start.
func record(m *model, s message) {
	s.at = m.now
	if s.id != 0 {
		for i := len(m.messages) - 1; i >= 0; i-- {
			if m.messages[i].id == s.id {
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
		return messageLines(m, w)
	}})
	return nil
}

func messageLines(m *model, w int) []string {
	if len(m.messages) == 0 {
		return []string{m.look.Paint(themes.Dim, "No messages yet. Results of verbs are "+
			"listed here.")}
	}
	room := 0
	for i := range m.messages {
		room = max(room, widget.Width(widget.Clock(m.messages[i].at, m.now)))
	}
	var lines []string
	for i := range m.messages {
		s := &m.messages[i]
		sign := m.look.Glyphs.Done
		switch s.token {
		case themes.Bad:
			sign = m.look.Glyphs.Failed
		case themes.Busy:
			sign = m.look.Glyphs.Starting
		}
		at := m.look.Paint(themes.Dim, widget.Fit(widget.Clock(s.at, m.now), room, ""))
		lines = append(lines, widget.Hanging(at+"  "+m.look.Paint(s.token, sign)+" ", s.text, w)...)
		for _, one := range s.each {
			lines = append(lines, widget.Hanging(widget.Spaces(room+4)+
				m.look.Paint(themes.Dim, m.look.Glyphs.Dot)+" ", one, w)...)
		}
	}
	return lines
}
