package tui

// matter is what the room is about just now: what verbs, rigs, menus and copies mean.
type matter int

const (
	ofAgents matter = iota
	ofPools
	ofAutomations // also while the pane shows what one prints
	ofEvents
	ofWatchdogs
	ofWork
	ofMail
)

// matter is what is worked with: what has the focus, or, from the pane, what that shows. None of it need be there.
func (m *model) matter() matter {
	switch {
	case m.inbox != nil:
		return ofMail
	case m.work != nil:
		return ofWork
	case m.focus == panelPools:
		return ofPools
	case m.focus == panelAutomations || m.showsRun():
		return ofAutomations
	case m.focus == panelEvents:
		return ofEvents
	case m.focus == panelWatchdogs:
		return ofWatchdogs
	}
	return ofAgents
}
