package tui

import (
	"slices"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// focusActions returns the actions that move the focus from panel to panel.
func focusActions(all []panel.Panel) []action {
	global := []keymap.Zone{keymap.Everywhere}
	focusOn := func(p panel.ID) func(*model) []feed.Effect {
		return func(m *model) []feed.Effect { focusOn(m, p); return nil }
	}
	var to []action
	for _, p := range all {
		a := p.About()
		keys := []string{a.Hotkey, a.Letter}
		if a.Letter == "" {
			keys = keys[:1]
		}
		to = append(to, action{ID: "focus." + string(a.ID), Short: a.Short,
			Key: keymap.Bind("go to "+a.Title, keys...),
			In:  global, Run: focusOn(a.ID)})
	}
	return append(to, []action{
		{ID: "focus.peek",
			Key: keymap.Bind("go to the pane: the agent's terminal, or the automation's output",
				"0"), In: global, Run: focusOn(panel.IDPeek)},
		{ID: "focus.next", Key: keymap.Bind("go to the next panel", "tab"), In: global,
			Run: func(m *model) []feed.Effect { cycle(m, 1); return nil }},
		{ID: "focus.previous", Key: keymap.Bind("go to the previous panel", "shift+tab"),
			In:  global,
			Run: func(m *model) []feed.Effect { cycle(m, -1); return nil }},
	}...)
}

// viewActions returns the actions that change the view, and the action that suspends the city.
func viewActions(all []panel.Panel) []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "view.zoom", Key: keymap.Bind("zoom the panel, or back", "f"), In: global,
			Run: func(m *model) []feed.Effect {
				m.zoomed = !m.zoomed
				m.before = m.focus
				return nil
			}},
		{ID: "view.event", Key: keymap.Bind("show the whole event", "enter"), Short: "detail",
			In:  []keymap.Zone{keymap.InEvents},
			Why: needEvent, Run: showEvent},
		{ID: "view.filter",
			Key: keymap.Bind("filter: all words must match; !not ~fuzzy state: pool: rig:",
				"/"), Short: "filter",
			In: panel.ZonesOf(all, func(*panel.About) bool {
				return true
			}), Run: askFilter},
		{ID: "view.attention", Key: keymap.Bind("show only what needs attention, or all", "!"),
			Short: "attention", In: panel.ZonesOf(all, func(a *panel.About) bool {
				return !a.Always
			}),
			Run: toggleAttention},
		{ID: "view.pane", Key: keymap.Bind("show or hide the agent's terminal", "p"), In: global,
			Run: togglePane},
		{ID: "view.pane.place",
			Key: keymap.Bind("put the agent's terminal at the side or below (wide screens)", "P"),
			In:  global,
			Run: func(m *model) []feed.Effect { m.below, m.hidden = !m.below, false; return nil }},
		{ID: "view.redraw", Key: keymap.Bind("redraw the screen", "ctrl+l"), In: global,
			Run: func(m *model) []feed.Effect { return []feed.Effect{feed.Redraw{}} }},
		{ID: "city.details",
			Key: keymap.Bind("show details of the city: problems, configuration, controller", "c"),
			In:  global,
			Why: needCity, Run: showCity},
		{ID: "city.suspend", Key: keymap.Bind("suspend the whole city, or resume it"), In: global,
			Risk: keymap.Confirmed, Why: needWritable,
			Run: askSuspendCity},
		{ID: "view.palette", Key: keymap.Bind("palette: find an action and run it", ":", "ctrl+p"),
			Short: "palette", In: global,
			Run: func(m *model) []feed.Effect { openFinder(m, true); return nil }},
		{ID: "view.help", Key: keymap.Bind("help: all keys; / searches, enter runs", "?"),
			Short: "help", In: global,
			Run: func(m *model) []feed.Effect { openFinder(m, false); return nil }},
		{ID: backID, Key: keymap.Bind("go back one step; never leaves the room", "esc"),
			Short: "back", In: global, Run: back},
	}
}

func needEvent(m *model) string {
	if m.Events.Selected() == nil {
		return "there are no events yet"
	}
	return ""
}

func needCity(m *model) string {
	if m.snap == nil {
		return "no data from the city yet"
	}
	return ""
}

func askSuspendCity(m *model) []feed.Effect {
	if m.snap != nil && m.snap.Suspended {
		return perhaps(m, question{title: "Resume " + cityName(m) + "?", verb: "resume",
			do: func(m *model) []feed.Effect {
				return carry(m, "resuming", "the city", []city.Command{city.Resume{}})
			}})
	}
	ask(m, question{title: "Suspend " + cityName(m) + "?", verb: "suspend", count: runningAgents(m),
		body: []string{"All sessions stop, and none starts until the city is resumed."},
		do: func(m *model) []feed.Effect {
			return carry(m, "suspending", "the city", []city.Command{city.Suspend{}})
		}})
	return nil
}

func cycle(m *model, n int) {
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
	focusOn(m, ring[(at+n+len(ring))%len(ring)])
}

func togglePane(m *model) []feed.Effect {
	m.hidden = !m.hidden
	if m.hidden && m.focus == panel.IDPeek {
		m.focus, m.zoomed = panel.IDAgents, false
	}
	return nil
}

func toggleAttention(m *model) []feed.Effect {
	m.attention = !m.attention
	m.refill()
	if !m.attention || m.focus == panel.IDPeek {
		return nil
	}
	// If the focused list has no problems, the focus moves to a list that has some.
	for _, p := range []panel.Panel{m.focused(), m.Agents, m.Watchdogs, m.Automations, m.Pools} {
		if _, _, shown, _ := p.Cursor(); shown > 0 && !p.About().Always {
			focusOn(m, p.About().ID)
			break
		}
	}
	return nil
}

// askFilter edits the focused panel's filter and previews it at every key.
func askFilter(m *model) []feed.Effect {
	f, p := filter(m), &prompt{}
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
	*p = prompt{
		Edit:  widget.NewReplacedEntry(f.Text),
		Label: "filter", Hint: hint,
		Change: func(text string) {
			apply(text)
			p.Hint = hint
			if _, _, shown, _ := m.focused().Cursor(); shown == 1 {
				p.Hint = m.keys.KeyOf("prompt.done") + " selects " +
					widget.Plain(m.focused().Key())
			}
		},
		Done: func(text string) task {
			return func(m *model) []feed.Effect { apply(text); return nil }
		},
		Cancel: func() { apply("") },
	}
	m.dialogs.Open(p)
	return nil
}

// back goes back one step. It may dismiss a failure, cancel a departure, end a zoom, or clear marks or a filter.
func back(m *model) []feed.Effect {
	failed := m.status.failed
	if !m.status.pending {
		m.status = status{}
	}
	switch {
	case failed:
	case m.departure.waits():
		return stayHere(m)
	case m.focus == panel.IDPeek && m.peek.Back():
	case m.focus == panel.IDEvents && m.Events.Frozen:
		toEnd(m)
	case m.focus == panel.IDEvents && m.Events.Only && !m.Events.Filter.Active():
		return toggleOnly(m)
	case m.zoomed:
		m.zoomed = false
		m.focus = m.before
	case len(*marking(m).Marks) > 0:
		unmarkAll(m, marking(m))
	case len(m.Agents.Marks) > 0:
		unmarkAll(m, panel.Marking{Marks: &m.Agents.Marks})
	case filter(m).Active() || m.trail != "":
		*filter(m) = widget.Filter{}
		m.refill()
		if m.trail != "" {
			focusOn(m, m.trail)
		}
	case m.Agents.Filter.Active():
		m.Agents.Filter = widget.Filter{}
		m.refill()
	case m.attention:
		m.attention = false
		m.refill()
	case m.focus != panel.IDAgents:
		focusOn(m, panel.IDAgents)
	case m.all:
		return leaveFor(m, feed.SwitchCity{})
	}
	return nil
}

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
