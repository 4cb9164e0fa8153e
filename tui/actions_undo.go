package tui

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

func needUndo(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return needWritable(m)
	case !canUndo(m):
		return "no verb in the last " + widget.Duration(undoFor) + " can be undone"
	}
	return ""
}

func needUndoOrHeld(m *model) string {
	if answerable(m) != nil && len(m.aim) == 0 {
		return ""
	}
	why := needUndo(m)
	switch {
	case undoable(m) || m.mode == ReadOnly:
		return why
	case len(m.aim) == 0 && m.focus == panel.IDRigs && m.Rigs.Resumable():
		return why + "; " + m.keys.KeyOf("rig.toggle") + " resumes " + m.Rigs.Called()
	case len(m.aim) == 0 && apart(m):
		return why + "; to release an agent press " + m.keys.KeyOf("focus.agents") +
			" for the agents"
	}
	return needHeld(m)
}

func undoOrRelease(m *model) []feed.Effect {
	if r := answerable(m); r != nil && len(m.aim) == 0 {
		return answerCall(m, r)
	}
	if undoable(m) {
		return takeBack(m)
	}
	return release(m)
}

// takeBack undoes the last verb. Undo itself cannot be undone: a key pressed twice must not repeat the verb.
func takeBack(m *model) []feed.Effect {
	u := m.undo
	m.undo = undo{}
	if u.restore != nil {
		u.restore(m)
		return nil
	}
	m.scaled = scaling{}
	todo := carry(m, "undoing:", u.what, u.possible(m))
	m.undo = undo{}
	return todo
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
	openReader(m, &reader{Title: "Messages", Offset: widget.Far, Lines: func(w int) []string {
		return details.MessageLines(&m.look, m.messages, m.now, w)
	}})
	return nil
}
