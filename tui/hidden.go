package tui

// hiddenIn says how many rows of a list are outside the place that it has, "" if none is. The timeline is none: most of
// it always is.
func (m *model) hiddenIn(at place, w int) string {
	var l *list
	switch at.panel {
	case panelAgents:
		l = &m.agents.list
	case panelPools:
		l = &m.pools.list
	case panelQuarantine:
		l = &m.quarantine.list
	case panelAutomations:
		l = &m.automations.list
	case panelWatchdogs:
		l = &m.watchdogs.list
	default:
		return ""
	}
	room := at.h - 1
	if at.panel != panelQuarantine && m.headed(w, at.h) {
		room--
	}
	return m.look.outside(l.outside(room))
}
