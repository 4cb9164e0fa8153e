package tui

import "gcity/tui/widget"

// hiddenIn says how many rows of a list are outside the place that it has, "" if none is. The timeline is none: most of
// it always is.
func (m *model) hiddenIn(at place, w int) string {
	var l *widget.List
	switch at.panel {
	case panelAgents:
		l = &m.agents.List
	case panelPools:
		l = &m.pools.List
	case panelQuarantine:
		l = &m.quarantine.List
	case panelAutomations:
		l = &m.automations.List
	case panelWatchdogs:
		l = &m.watchdogs.List
	default:
		return ""
	}
	room := at.h - 1
	if at.panel != panelQuarantine && m.headed(w, at.h) {
		room--
	}
	return m.look.Hidden(l.Outside(room))
}
