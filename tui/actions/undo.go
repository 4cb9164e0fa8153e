package actions

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func needUndoOrHeld(m *state.Room) string {
	if state.AcknowledgeableWatchdog(m) != nil && len(m.NamedAgents) == 0 {
		return ""
	}
	why, held, over := state.NeedUndo(m), needHeld(m), state.UndoOver(m)
	switch {
	case state.Undoable(m) || state.NeedWritable(m) != "":
		return why
	case held != "" && over != "":
		return over
	case held != "" && state.HowToCancelDrain(m) != "":
		return why
	case held != "" && state.UndoExpired(m):
		return why
	case len(m.NamedAgents) == 0 && m.Focus == panel.IDRigs && m.Rigs.Resumable():
		return why + "; " + m.Keys.KeyText("rig.toggle") + " resumes " + m.Rigs.Called()
	case len(m.NamedAgents) == 0 && state.AgentVerbsUnavailable(m):
		return why + "; to release an agent, press " + m.Keys.KeyText("focus.agents") +
			" for the agents"
	}
	if why != "" && held == palette.OnlyHeld {
		return why + "; " + held
	}
	return held
}

func undoOrRelease(m *state.Room) []feed.Effect {
	if state.HoldsUndoKey(m) {
		return nil
	}
	if r := state.AcknowledgeableWatchdog(m); r != nil && len(m.NamedAgents) == 0 {
		return acknowledgeCall(m, r)
	}
	if state.Undoable(m) {
		return undo(m)
	}
	return release(m)
}

func undo(m *state.Room) []feed.Effect {
	if possible, _ := m.Undo.Possible(m); len(possible) == 0 {
		return state.RunUndo(m) // it changes only this room
	}
	return askLiveIfWanted(m, func(m *state.Room) question {
		if why := state.NeedUndo(m); why != "" {
			return nothingDone(why)
		}
		return question{title: "Undo " + widget.Plain(m.Undo.What) + "?", verb: "undo it",
			do: state.RunUndo}
	})
}

func messageActions() []state.Action {
	return []state.Action{
		{ID: "view.messages",
			Key: keymap.Bind("messages: show past status lines, with the result of each target"),
			Run: showMessages},
		{ID: "verb.undo", Key: keymap.Bind("undo the latest action: possible for 30s"),
			Why: state.NeedUndo, Run: undo},
	}
}

func showMessages(m *state.Room) []feed.Effect {
	openReader(m, &state.Reader{Title: "Messages", Offset: widget.Unlimited,
		Lines: func(w int) []string {
			return details.MessageLines(&m.Look, m.Messages, m.Now, w)
		}})
	return nil
}
