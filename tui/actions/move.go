package actions

import (
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func moveActions(all []panel.Panel) []state.Action {
	everyPanel := append(panel.ZonesOf(all, func(*panel.About) bool { return true }), keymap.InPeek)
	by := func(n int) state.Task {
		return noEffects(func(m *state.Room) { state.Step(m, n) })
	}
	page := func(parts, of int) state.Task {
		return noEffects(func(m *state.Room) {
			n := max(1, (m.FocusRows()-1)*max(parts, -parts)/of)
			if parts < 0 {
				n = -n
			}
			state.Step(m, n)
		})
	}
	moves := []state.Action{
		{ID: "move.down", Key: keymap.Bind("move down", "j", "down"), Run: by(1)},
		{ID: "move.up", Key: keymap.Bind("move up", "k", "up"), Run: by(-1)},
		{ID: "move.half.down", Key: keymap.Bind("half a page down", "ctrl+d"),
			Run: page(1, 2)},
		{ID: "move.half.up", Key: keymap.Bind("half a page up", "ctrl+u"),
			Run: page(-1, 2)},
		{ID: "move.page.down", Key: keymap.Bind("a page down", "pgdown"),
			Run: page(1, 1)},
		{ID: "move.page.up", Key: keymap.Bind("a page up", "pgup"),
			Run: page(-1, 1)},
		{ID: "move.first", Key: keymap.Bind("to the beginning", "g", "home"),
			Run: by(-widget.Unlimited)},
		{ID: "move.last",
			Key: keymap.Bind("to the end: Events and the pane follow new output again", "G", "end"),
			Run: noEffects(func(m *state.Room) { state.MoveToEnd(m) })},
	}
	markMoves(moves)
	return in(moves, everyPanel...)
}

func markMoves(all []state.Action) {
	for i := range all {
		all[i].Moves = true
	}
}
