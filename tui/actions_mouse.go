package tui

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
)

// mouseActions returns the actions that capture and release the mouse.
func mouseActions() []action {
	return []action{
		{ID: "view.mouse",
			Key: keymap.Bind("mouse: use it for clicks and scrolling, or return it to the terminal",
				"M"), In: []keymap.Zone{keymap.Everywhere},
			Run: toggleMouse},
	}
}

// usesMouse reports whether the room, and not the terminal, handles clicks and scrolling.
func usesMouse(m *model) bool {
	return m.mouse == "on" || m.mouse == "" && !m.person.MouseOff
}

func toggleMouse(m *model) []feed.Effect {
	if usesMouse(m) {
		m.mouse = "off"
		say(m, "the terminal uses the mouse again, also at the next start")
		return nil
	}
	m.mouse = "on"
	say(m, "the mouse clicks and scrolls here; hold shift to "+
		"select text, "+m.keys.KeyNow("view.mouse")+" releases it")
	return nil
}
