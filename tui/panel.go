package tui

// panel is one of the places that can have the focus.
type panel int

const (
	panelAgents panel = iota
	panelPools
	panelQuarantine
	panelAutomations
	panelEvents
	panelWatchdogs
	panelPeek
	panelDetail // never has the focus
	panels
)
