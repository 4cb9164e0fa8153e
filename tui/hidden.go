package tui

import (
	"slices"
	"strings"
)

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

func (k *look) outside(above, below int) string {
	var parts []string
	if above > 0 {
		parts = append(parts, k.glyph.Above+number(above))
	}
	if below > 0 {
		parts = append(parts, k.glyph.Below+number(below))
	}
	return strings.Join(parts, " ")
}

// bare are titles that say nothing of hidden rows.
func bare(tabs []tab) []tab {
	tabs = slices.Clone(tabs)
	for i := range tabs {
		tabs[i].hidden = ""
	}
	return tabs
}
