package tui

import (
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// env returns the values of this room that panels need.
func (m *model) env() *panel.Env {
	return &panel.Env{
		Look:  &m.look,
		KeyOf: m.keys.KeyOf,
		Key:   m.keys.KeyNow,
		Now:   m.now,
		Snap:  m.snap,
		W:     m.w, H: m.h,
		Single:    tierOf(m.w, m.h) == single,
		ReadOnly:  m.mode == ReadOnly,
		Attention: m.attention,
		Alerts:    func() []panel.Alert { return alerts(m) },
		Still:     m.handsOn(),
		UI:        m.UI,
	}
}

// panelOf returns the panel with an ID. For Peek it returns Agents.
func (m *model) panelOf(id panel.ID) panel.Panel {
	for _, p := range m.Panels {
		if p.About().ID == id {
			return p
		}
	}
	return m.Agents
}

// focused returns the panel that has the focus, or Agents if the pane has the focus.
func (m *model) focused() panel.Panel { return m.panelOf(m.focus) }

// worked returns the panel that verbs act on: Automations while the pane shows a run, otherwise the focused panel.
func (m *model) worked() panel.Panel {
	if showsRun(m) {
		return m.Automations
	}
	return m.focused()
}

// actsOn reports whether verbs currently act on objects of kind k, such as agents or pools.
func actsOn(m *model, k panel.Kind) bool { return m.worked().Subject().Kind == k }

// subject returns the object that verbs act on.
func (m *model) subject() panel.Ref {
	return m.worked().Subject()
}

// forgetDrawn makes all panels redraw.
func (m *model) forgetDrawn() {
	m.pane = widget.Cache{}
	for _, p := range m.Panels {
		p.Forget()
	}
}

// details returns the values that detail texts are made from.
func (m *model) details() *details.Source {
	return &details.Source{Env: m.env(), Lists: &m.Lists,
		Declared: func(source string, patched []string) string {
			return declaredText(m, source, patched)
		},
		Printed: func(r *city.Run) []string { return printed(m, r) }}
}

// cityName returns the city's name, or a general term while it is unknown.
func cityName(m *model) string {
	switch {
	case m.snap == nil && m.fleetRoom:
		return "all cities"
	case m.snap == nil && m.at != "":
		return widget.Plain(m.at)
	case m.snap == nil:
		return "the city"
	}
	return widget.Plain(m.snap.Name)
}
