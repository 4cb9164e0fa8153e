package tui

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

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
