package tui

import (
	"maps"
	"slices"

	"gcity/city"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

func cloned(m map[string]bool) map[string]bool {
	if m == nil {
		return map[string]bool{}
	}
	return maps.Clone(m)
}

// focusActions move the focus from panel to panel.
func focusActions(all []panel.Panel) []action {
	global := []keymap.Zone{keymap.Everywhere}
	focusOn := func(p panel.ID) func(*model) []effect {
		return func(m *model) []effect { m.focusOn(p); return nil }
	}
	var to []action
	for _, p := range all {
		a := p.About()
		to = append(to, action{ID: "focus." + string(a.ID),
			Key: keymap.Bind("go to "+a.Title, a.Hotkey),
			In:  global, Run: focusOn(a.ID)})
	}
	return append(to, []action{
		{ID: "focus.peek",
			Key: keymap.Bind("go to the pane: the agent's terminal, or what the automation prints",
				"0"), In: global, Run: focusOn(panel.IDPeek)},
		{ID: "focus.next", Key: keymap.Bind("go to the next panel", "tab"), In: global,
			Run: func(m *model) []effect { m.cycle(1); return nil }},
		{ID: "focus.previous", Key: keymap.Bind("go to the panel before", "shift+tab"), In: global,
			Run: func(m *model) []effect { m.cycle(-1); return nil }},
	}...)
}

// viewActions change what is seen, never the city.
func viewActions(all []panel.Panel) []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "view.zoom", Key: keymap.Bind("zoom the panel, or back", "f"), In: global,
			Run: func(m *model) []effect { m.zoomed = !m.zoomed; m.before = m.focus; return nil }},
		{ID: "view.event", Key: keymap.Bind("show all of the event", "enter"), Short: "detail",
			In:  []keymap.Zone{keymap.InEvents},
			Why: needEvent, Run: (*model).showEvent},
		{ID: "view.filter",
			Key: keymap.Bind("filter: words that all must match; !not ~fuzzy state: pool: rig:",
				"/"), Short: "filter",
			In: panel.ZonesOf(all, func(*panel.About) bool {
				return true
			}), Run: (*model).askFilter},
		{ID: "view.attention", Key: keymap.Bind("only what needs attention, or all", "!"),
			Short: "attention", In: panel.ZonesOf(all, func(a *panel.About) bool {
				return !a.Always
			}),
			Run: (*model).toggleAttention},
		{ID: "view.pane", Key: keymap.Bind("the agent's terminal: show or hide", "p"), In: global,
			Run: (*model).togglePane},
		{ID: "view.pane.place",
			Key: keymap.Bind("the agent's terminal: beside or below (wide screens)", "P"),
			In:  global,
			Run: func(m *model) []effect { m.below, m.hidden = !m.below, false; return nil }},
		{ID: "view.redraw", Key: keymap.Bind("draw the screen anew", "ctrl+l"), In: global,
			Run: func(m *model) []effect { return []effect{redraw{}} }},
		{ID: "city.details",
			Key: keymap.Bind("show the city: its problems in full, configuration, controller", "c"),
			In:  global,
			Why: needCity, Run: (*model).showCity},
		{ID: "city.suspend", Key: keymap.Bind("suspend the whole city, or resume it"), In: global,
			Risk: keymap.Confirmed, Why: needWritable,
			Run: (*model).askSuspendCity},
		{ID: "view.palette", Key: keymap.Bind("palette: find an action and run it", ":", "ctrl+p"),
			Short: "palette", In: global,
			Run: func(m *model) []effect { m.openFinder(true); return nil }},
		{ID: "view.help", Key: keymap.Bind("help: every key; / searches, enter runs", "?"),
			Short: "help", In: global,
			Run: func(m *model) []effect { m.openFinder(false); return nil }},
		{ID: "view.back", Key: keymap.Bind("one step back; never leaves", "esc"), In: global,
			Run: (*model).back},
	}
}

func needEvent(m *model) string {
	if m.Events.Selected() == nil {
		return "there is no event yet"
	}
	return ""
}

func needCity(m *model) string {
	if m.snap == nil {
		return "nothing has been heard of the city yet"
	}
	return ""
}

func needWritable(m *model) string {
	if m.mode == ReadOnly {
		return "this control room is read-only"
	}
	return ""
}

func (m *model) askSuspendCity() []effect {
	if m.snap != nil && m.snap.Suspended {
		return m.perhaps(question{title: "Resume " + m.cityName() + "?", verb: "resume",
			do: func(m *model) []effect {
				return m.carry("resuming", "the city", []city.Command{city.Resume{}})
			}})
	}
	m.ask(question{title: "Suspend " + m.cityName() + "?", verb: "suspend", count: m.living(),
		body: []string{"All sessions end, and none begins until the city is resumed."},
		do: func(m *model) []effect {
			return m.carry("suspending", "the city", []city.Command{city.Suspend{}})
		}})
	return nil
}

func (m *model) focusOn(p panel.ID) {
	if m.focus != p {
		m.zoomed = false
		m.before = m.focus
		if p != panel.IDPeek {
			m.panelOf(p).Entered()
		}
	}
	m.focus = p
	m.turnPane()
	m.followSubject()
	if p == panel.IDPeek {
		m.hidden = false
	}
	if r := m.Agents.At(m.list()); r != nil && p == panel.IDQuarantine {
		m.choose(r.Name)
	}
}

func (m *model) cycle(n int) {
	var ring []panel.ID
	for _, p := range m.Panels {
		if m.present(p) {
			ring = append(ring, p.About().ID)
		}
	}
	if !m.hidden {
		ring = append(ring, panel.IDPeek)
	}
	at := max(0, slices.Index(ring, m.focus))
	m.focusOn(ring[(at+n+len(ring))%len(ring)])
}

func (m *model) togglePane() []effect {
	m.hidden = !m.hidden
	if m.hidden && m.focus == panel.IDPeek {
		m.focus, m.zoomed = panel.IDAgents, false
	}
	return nil
}

func (m *model) toggleAttention() []effect {
	m.attention = !m.attention
	m.refill()
	return nil
}

// filter is the focused panel's; the pane's is that of the agents.
func (m *model) filter() *widget.Filter { return m.focused().Query() }

// askFilter edits the focused panel's filter; every keystroke shows what it would leave.
func (m *model) askFilter() []effect {
	f := m.filter()
	apply := func(text string) {
		*f = widget.ParseFilter(text)
		m.refill()
	}
	hint := "!not  ~fuzzy  state: pool: rig:"
	if m.focus == panel.IDEvents {
		hint = "!not  ~fuzzy  type: subject: by: since:10m"
	}
	hint += "  " + m.keys.KeyOf("prompt.done") + " keeps  " + m.keys.KeyOf("prompt.cancel") +
		" clears"
	m.dialogs.Open(&prompt{
		Edit:  widget.NewReplacedEntry(f.Text),
		Label: "filter", Hint: hint,
		Change: apply,
		Done: func(text string) task {
			return func(m *model) []effect { apply(text); return nil }
		},
		Cancel: func() { apply("") },
	})
	return nil
}

// back undoes one step of looking closer.
func (m *model) back() []effect {
	switch {
	case m.status.failed:
		m.status = status{}
	case m.departure.waits():
		return m.stayHere()
	case m.focus == panel.IDPeek && m.peek.Back():
	case m.focus == panel.IDEvents && m.Events.Frozen:
		m.toEnd()
	case m.focus == panel.IDEvents && m.Events.Only && !m.Events.Filter.Active():
		return m.toggleOnly()
	case m.zoomed:
		m.zoomed = false
		m.focus = m.before
	case len(*m.marking().Marks) > 0:
		m.unmarkAll(m.marking())
	case len(m.Agents.Marks) > 0:
		m.unmarkAll(panel.Marking{Marks: &m.Agents.Marks})
	case m.filter().Active():
		*m.filter() = widget.Filter{}
		m.refill()
	case m.Agents.Filter.Active():
		m.Agents.Filter = widget.Filter{}
		m.refill()
	case m.attention:
		m.attention = false
		m.refill()
	case m.focus != panel.IDAgents:
		m.focusOn(panel.IDAgents)
	case m.all:
		return m.leaveFor(travel{})
	}
	return nil
}
