package state

import (
	"cmp"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Env returns the values from this room that panels need.
func (m *Room) Env() *panel.Env {
	stopped := ""
	if Uncontrollable(m) && hasNoController(m) {
		stopped = "the city has no controller" + restartHint(m)
	}
	return &panel.Env{
		Look:  &m.Look,
		KeyOf: m.Keys.KeyText,
		Key:   m.Keys.MainKey,
		Now:   m.Now,
		Snap:  m.Snap,
		W:     m.W, H: m.H,
		Single:    TierOf(m.W, m.H) == Single,
		ReadOnly:  NeedWritable(m) != "",
		Stopped:   stopped,
		Attention: m.OnlyAttention,
		Alerts:    func() []panel.Alert { return Alerts(m) },
		Still:     m.userIsActive(),
		UI:        m.UI,
	}
}

// PanelOf returns the panel with the given ID. For the pane it returns Agents.
func (m *Room) PanelOf(id panel.ID) panel.Panel {
	for _, p := range m.Panels {
		if p.About().ID == id {
			return p
		}
	}
	return m.Agents
}

// Focused returns the panel that has the focus, or Agents if the pane has the focus.
func (m *Room) Focused() panel.Panel { return m.PanelOf(m.Focus) }

// ActionPanel returns the panel that verbs act on: Automations while the pane shows a run, otherwise the focused panel.
func (m *Room) ActionPanel() panel.Panel {
	if ShowsRun(m) {
		return m.Automations
	}
	return m.Focused()
}

// ActsOn reports whether verbs currently act on objects of the kind k, such as agents or pools.
func ActsOn(m *Room, k panel.Kind) bool { return m.ActionPanel().Subject().Kind == k }

// Subject returns the object that verbs act on.
func (m *Room) Subject() panel.Ref {
	return m.ActionPanel().Subject()
}

// ForgetDrawn discards the cached lines of all panels, so that they are drawn again.
func (m *Room) ForgetDrawn() {
	m.Pane = widget.Cache{}
	for _, p := range m.Panels {
		p.Forget()
	}
}

// Details returns the data that pages with details are generated from.
func (m *Room) Details() *details.Source {
	return &details.Source{Env: m.Env(), Lists: &m.Lists,
		Declared: func(source string, patched []string) string {
			return declaredText(m, source, patched)
		},
		RunLines: func(r *city.Run) []string { return RunLines(m, r) },
		Heard:    m.Peek.LastOutput}
}

// CityTitle returns the city's name for a title of w columns. If other cities have the same name, the distinguishing
// part of the folder's path is appended.
func CityTitle(m *Room, w int) string {
	if m.FleetRoom {
		return widget.Cut(CityName(m), w, m.Look.Glyphs.More)
	}
	return nameWithFolder(m, CityName(m), m.sameName, w)
}

// HomeTitle is like CityTitle, for the home city. Home must be set.
func HomeTitle(m *Room, w int) string {
	return nameWithFolder(m, widget.Plain(m.Home), m.homeSameName, w)
}

func nameWithFolder(m *Room, name, folder string, w int) string {
	more := m.Look.Glyphs.More
	if folder == "" || folder == name {
		return widget.Cut(name, w, more)
	}
	folder = " (" + widget.Cut(folder, max(4, w/2-3), more) + ")"
	return widget.Cut(name, w-widget.Width(folder), more) + folder
}

// CityName returns the city's name, or a generic term while it is unknown.
func CityName(m *Room) string {
	switch {
	case m.Snap == nil && m.FleetRoom:
		return "all cities"
	case m.Snap == nil && m.At != "":
		if c := m.Fleet.Find(m.At); c != nil {
			return widget.Plain(cmp.Or(c.Summary.Name, m.At))
		}
		return widget.Plain(m.At)
	case m.Snap == nil:
		return "the city"
	}
	return widget.Plain(m.Snap.Name)
}
