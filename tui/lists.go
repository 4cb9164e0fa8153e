package tui

import (
	"gcity/tui/keymap"
	"gcity/tui/widget"
	"slices"
)

// lists are the panels of a room.
type lists struct {
	agents      *agents
	pools       *pools
	quarantine  *table[agentRow, *agentRow]
	automations *automations
	events      *timeline
	watchdogs   *watchdogs

	panels []Panel // all of them, in the order of their titles
}

func newLists() lists {
	a := newAgents()
	l := lists{
		agents:      a,
		pools:       newPools(a),
		quarantine:  newQuarantine(a),
		automations: newAutomations(),
		events:      newTimeline(a),
		watchdogs:   newWatchdogs(a),
	}
	l.panels = []Panel{l.agents, l.pools, l.quarantine, l.automations, l.events, l.watchdogs}
	return l
}

// env returns what panels know about this room.
func (m *model) env() *env {
	return &env{
		look:      &m.look,
		keyOf:     m.keys.KeyOf,
		key:       m.keys.KeyNow,
		now:       m.now,
		snap:      m.snap,
		h:         m.h,
		single:    tierOf(m.w, m.h) == single,
		readOnly:  m.mode == ReadOnly,
		attention: m.attention,
		still:     m.handsOn(),
		ui:        m.ui,
	}
}

// panelOf returns the panel of an id. That of Peek is Agents.
func (m *model) panelOf(id panel) Panel {
	for _, p := range m.panels {
		if p.about().id == id {
			return p
		}
	}
	return m.agents
}

// focused returns the panel that has the focus, Agents if the pane has it.
func (m *model) focused() Panel { return m.panelOf(m.focus) }

// worked returns the panel that verbs are about: the one with the focus, or the one that the pane shows something of.
func (m *model) worked() Panel {
	if m.showsRun() {
		return m.automations
	}
	return m.focused()
}

// subject returns what verbs act on.
func (m *model) subject() Ref {
	switch {
	case m.inbox != nil:
		return m.inbox.subject()
	case m.work != nil:
		return m.work.subject()
	}
	return m.worked().Subject()
}

// zonesOf returns the zones of the panels that pass, each once.
func zonesOf(all []Panel, keep func(*about) bool) []keymap.Zone {
	var zones []keymap.Zone
	for _, p := range all {
		if a := p.about(); keep(a) && !slices.Contains(zones, a.zone) {
			zones = append(zones, a.zone)
		}
	}
	return zones
}

// forgetDrawn has all panels drawn anew.
func (m *model) forgetDrawn() {
	m.pane = widget.Cache{}
	for _, p := range m.panels {
		p.Forget()
	}
}
