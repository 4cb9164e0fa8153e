package actions

import (
	"slices"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func focusActions(all []panel.Panel) []state.Action {
	focusOn := func(p panel.ID) state.Task {
		return noEffects(func(m *state.Room) { state.FocusOn(m, p) })
	}
	var to []state.Action
	for _, p := range all {
		a := p.About()
		keys := []string{a.Hotkey, a.Key2}
		if a.Key2 == "" {
			keys = keys[:1]
		}
		to = append(to, state.Action{ID: "focus." + string(a.ID), Short: a.Short,
			Key: keymap.Bind("go to "+a.Title, keys...),
			Run: focusOn(a.ID)})
	}
	return append(to, []state.Action{
		{ID: "focus.peek",
			Key: keymap.Bind("go to the pane: the agent's terminal, or the automation's output",
				"0"), Run: focusOn(panel.IDPeek)},
		{ID: "focus.next", Key: keymap.Bind("go to the next panel", "tab"),
			Run: noEffects(func(m *state.Room) { cycle(m, 1) })},
		{ID: "focus.previous", Key: keymap.Bind("go to the previous panel", "shift+tab"),
			Run: noEffects(func(m *state.Room) { cycle(m, -1) })},
	}...)
}

func viewActions(all []panel.Panel) []state.Action {
	return []state.Action{
		{ID: "view.zoom", Key: keymap.Bind("zoom the panel, or end the zoom", "f"),
			Run: noEffects(func(m *state.Room) {
				m.Zoomed = !m.Zoomed
				m.PreviousFocus = m.Focus
			})},
		{ID: "view.event", Key: keymap.Bind("show the whole event", "enter"), Short: "details",
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
			Run: noEffects(toggleAttention)},
		{ID: "view.pane", Key: keymap.Bind("show or hide the agent's terminal", "p"),
			Run: noEffects(togglePane)},
		{ID: "view.pane.place",
			Key: keymap.Bind("put the agent's terminal next to or below the lists (wide screens)",
				"P"),
			Why: needSides,
			Run: noEffects(func(m *state.Room) {
				m.Below, m.Hidden = !m.Below, false
			})},
		{ID: "view.redraw", Key: keymap.Bind("redraw the screen", "ctrl+l"),
			Run: func(m *state.Room) []feed.Effect { return []feed.Effect{feed.Redraw{}} }},
		{ID: "city.details",
			Key: keymap.Bind("show details of the city: problems, configuration, controller", "c"),
			Why: needCity, Run: showCity},
		{ID: "city.suspend", Key: keymap.Bind("suspend the whole city, or resume it"),
			Risk: keymap.Confirmed, Why: state.NeedWritable,
			Run: askSuspendCity},
		{ID: "view.palette", Key: keymap.Bind("palette: find an action and run it", ":", "ctrl+p"),
			Short: "palette",
			Run:   noEffects(func(m *state.Room) { openFinder(m, true) })},
		{ID: "view.help", Key: keymap.Bind("help: all keys; / searches, enter runs", "?"),
			Short: "help",
			Run:   noEffects(func(m *state.Room) { openFinder(m, false) })},
		{ID: state.BackID, Key: keymap.Bind("go back one step; does not quit", "esc"),
			Short: "back", Run: back},
	}
}

func needEvent(m *state.Room) string {
	if m.Events.Selected() == nil {
		return "there are no events yet"
	}
	return ""
}

func needCity(m *state.Room) string {
	if m.Snap == nil {
		return "no data from the city yet"
	}
	return ""
}

func askSuspendCity(m *state.Room) []feed.Effect {
	if m.Snap != nil && m.Snap.Suspended {
		return askIfWanted(m, question{verb: "resume",
			title: "Resume " + state.CityTitle(m, 50) + "?",
			do:    sending("resuming", "the city", city.Resume{})})
	}
	return askLive(m, func(m *state.Room) question {
		return question{title: "Suspend " + state.CityTitle(m, 50) + "?", verb: "suspend",
			count: state.RunningAgents(m), of: "running agents",
			body: []string{"All sessions will stop, and none will start until the city is " +
				"resumed."},
			do: sending("suspending", "the city", city.Suspend{})}
	})
}

func cycle(m *state.Room, n int) {
	var ring []panel.ID
	for _, p := range m.Panels {
		if m.Present(p) {
			ring = append(ring, p.About().ID)
		}
	}
	if !m.Hidden {
		ring = append(ring, panel.IDPeek)
	}
	at := max(0, slices.Index(ring, m.Focus))
	state.FocusOn(m, ring[(at+n+len(ring))%len(ring)])
}

func togglePane(m *state.Room) {
	m.Hidden = !m.Hidden
	if m.Hidden && m.Focus == panel.IDPeek {
		m.Focus, m.Zoomed = panel.IDAgents, false
	}
}

func toggleAttention(m *state.Room) {
	m.OnlyAttention = !m.OnlyAttention
	m.Refill()
	if !m.OnlyAttention || m.Focus == panel.IDPeek {
		return
	}
	for _, p := range []panel.Panel{m.Focused(), m.Agents, m.Watchdogs, m.Automations, m.Pools} {
		if _, _, shown, _ := p.Cursor(); shown > 0 && !p.About().Always {
			state.FocusOn(m, p.About().ID)
			break
		}
	}
}

func needSides(m *state.Room) string {
	if !state.HasSides(m) {
		return "the terminal stays below the lists on screens smaller than 160 x 40"
	}
	return ""
}

func askFilter(m *state.Room) []feed.Effect {
	f, p := state.Filter(m), &state.Prompt{}
	list := m.Focused()
	before := list.Preferred()
	apply := func(text string) {
		*f, m.Led = widget.ParseFilter(text), ""
		selected := list.Key()
		m.Refill()
		key := list.Key()
		state.SelectBestMatch(m, text, key == selected || key == before)
		list.Prefer(before)
	}
	hint := "!not  ~fuzzy  state: pool: rig:"
	if m.Focus == panel.IDEvents {
		hint = "!not  ~fuzzy  type: subject: by: since:10m"
	}
	hint += "  " + m.Keys.KeyText("prompt.done") + " keeps  " + m.Keys.KeyText("prompt.cancel") +
		" clears"
	*p = state.Prompt{
		Edit:  widget.NewReplacedEntry(f.Text),
		Label: "filter", Hint: hint,
		Change: func(text string) {
			apply(text)
			p.Hint = hint
			if _, _, shown, _ := m.Focused().Cursor(); shown == 1 {
				p.Hint = m.Keys.KeyText("prompt.done") + " selects " +
					widget.Plain(m.Focused().Key())
			}
		},
		Done: func(text string) state.Task {
			return noEffects(func(m *state.Room) {
				apply(text)
				if _, _, shown, _ := list.Cursor(); shown > 0 && text != "" {
					list.Prefer("")
				}
			})
		},
		Cancel: func() { apply("") },
	}
	m.Dialogs.Open(p)
	return nil
}

func back(m *state.Room) []feed.Effect {
	failed := m.Status.Failed
	if !m.Status.Pending {
		m.Status = state.Status{}
	}
	switch {
	case failed:
	case m.Departure.Leaves():
		return state.CancelDeparture(m)
	case m.Focus == panel.IDPeek && m.Peek.Back():
	case m.Focus == panel.IDEvents && m.Events.Frozen:
		state.MoveToEnd(m)
	case m.Focus == panel.IDEvents && m.Events.Only && !m.Events.Filter.Active():
		return toggleOnly(m)
	case m.Zoomed:
		m.Zoomed = false
		m.Focus = m.PreviousFocus
	case len(*state.Marking(m).Marks) > 0:
		state.UnmarkAll(m, state.Marking(m))
	case len(m.Agents.Marks) > 0:
		state.UnmarkAll(m, panel.Marking{Marks: &m.Agents.Marks, Anchor: &m.Agents.Anchor})
	case state.Filter(m).Active() || m.FilterSource != "":
		*state.Filter(m) = widget.Filter{}
		m.Refill()
		if m.FilterSource != "" {
			state.FocusOn(m, m.FilterSource)
		}
	case m.Agents.Filter.Active():
		m.Agents.Filter = widget.Filter{}
		m.Refill()
	case m.OnlyAttention:
		m.OnlyAttention = false
		m.Refill()
	case m.Focus != panel.IDAgents:
		state.FocusOn(m, panel.IDAgents)
	case m.All:
		return state.StartSwitch(m, feed.SwitchCity{})
	}
	return nil
}

func mouseActions() []state.Action {
	return []state.Action{
		{ID: "view.mouse",
			Key: keymap.Bind("mouse: use it for clicks and scrolling, or return it to the terminal",
				"M"),
			Run: noEffects(toggleMouse)},
	}
}

// UsesMouse reports whether the room, and not the terminal, handles clicks and scrolling.
func UsesMouse(m *state.Room) bool {
	return m.Mouse == "on" || m.Mouse == "" && !m.Preferences.MouseOff
}

func toggleMouse(m *state.Room) {
	if UsesMouse(m) {
		m.Mouse = "off"
		state.ShowSuccess(m, "the terminal handles the mouse again; this choice is saved")
		return
	}
	m.Mouse = "on"
	state.ShowSuccess(m, "the mouse now works in gcity ("+
		m.Keys.MainKey("view.mouse")+" releases it); hold shift to select text")
}
