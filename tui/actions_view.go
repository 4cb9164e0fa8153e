package tui

import (
	"maps"
	"slices"

	"gcity/city"
	"gcity/tui/widget"
)

func cloned(m map[string]bool) map[string]bool {
	if m == nil {
		return map[string]bool{}
	}
	return maps.Clone(m)
}

// viewActions change what is seen, never the city.
func viewActions() []action {
	global := []zone{everywhere}
	focusOn := func(p panel) func(*model) []effect {
		return func(m *model) []effect { m.focusOn(p); return nil }
	}
	return []action{
		{id: "focus.agents", key: bind("go to Agents", "1"), in: global, run: focusOn(panelAgents)},
		{id: "focus.pools", key: bind("go to Pools", "2"), in: global, run: focusOn(panelPools)},
		{id: "focus.quarantine", key: bind("go to Quarantine", "3"), in: global, run: focusOn(panelQuarantine)},
		{id: "focus.automations", key: bind("go to Automations", "4"), in: global, run: focusOn(panelAutomations)},
		{id: "focus.events", key: bind("go to Events", "5"), in: global, run: focusOn(panelEvents)},
		{id: "focus.watchdogs", key: bind("go to Watchdogs", "6"), in: global, run: focusOn(panelWatchdogs)},
		{id: "focus.peek", key: bind("go to the pane: the agent's terminal, or what the automation prints", "0"), in: global, run: focusOn(panelPeek)},
		{id: "focus.next", key: bind("go to the next panel", "tab"), in: global,
			run: func(m *model) []effect { m.cycle(1); return nil }},
		{id: "focus.previous", key: bind("go to the panel before", "shift+tab"), in: global,
			run: func(m *model) []effect { m.cycle(-1); return nil }},
		{id: "view.zoom", key: bind("zoom the panel, or back", "f"), in: global,
			run: func(m *model) []effect { m.zoomed = !m.zoomed; m.before = m.focus; return nil }},
		{id: "view.event", key: bind("show all of the event", "enter"), short: "detail", in: []zone{inEvents},
			why: needEvent, run: (*model).showEvent},
		{id: "view.filter", key: bind("filter: words that all must match; !not ~fuzzy state: pool: rig:", "/"), short: "filter",
			in: []zone{inLists, inPools, inAutomations, inEvents, inWatchdogs}, run: (*model).askFilter},
		{id: "view.attention", key: bind("only what needs attention, or all", "!"), short: "attention", in: []zone{inLists, inPools, inAutomations, inWatchdogs},
			run: (*model).toggleAttention},
		{id: "view.pane", key: bind("the agent's terminal: show or hide", "p"), in: global, run: (*model).togglePane},
		{id: "view.pane.place", key: bind("the agent's terminal: beside or below (wide screens)", "P"), in: global,
			run: func(m *model) []effect { m.below, m.hidden = !m.below, false; return nil }},
		{id: "view.redraw", key: bind("draw the screen anew", "ctrl+l"), in: global,
			run: func(m *model) []effect { return []effect{redraw{}} }},
		{id: "city.details", key: bind("show the city: its problems in full, configuration, controller", "c"), in: global,
			why: needCity, run: (*model).showCity},
		{id: "city.suspend", key: bind("suspend the whole city, or resume it"), in: global, risk: confirmed, why: needWritable,
			run: (*model).askSuspendCity},
		{id: "view.palette", key: bind("palette: find an action and run it", ":", "ctrl+p"), short: "palette", in: global,
			run: func(m *model) []effect { m.openFinder(true); return nil }},
		{id: "view.help", key: bind("help: every key; / searches, enter runs", "?"), short: "help", in: global,
			run: func(m *model) []effect { m.openFinder(false); return nil }},
		{id: "view.back", key: bind("one step back; never leaves", "esc"), in: global, run: (*model).back},
	}
}

func needEvent(m *model) string {
	if m.events.selected() == nil {
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
			do: func(m *model) []effect { return m.carry("resuming", "the city", []city.Command{city.Resume{}}) }})
	}
	m.ask(question{title: "Suspend " + m.cityName() + "?", verb: "suspend", count: m.living(),
		body: []string{"All sessions end, and none begins until the city is resumed."},
		do:   func(m *model) []effect { return m.carry("suspending", "the city", []city.Command{city.Suspend{}}) }})
	return nil
}

func (m *model) focusOn(p panel) {
	if m.focus != p {
		m.zoomed = false
		m.before = m.focus
	}
	if m.focus != p && p == panelAutomations {
		m.automations.toIlls()
	}
	m.focus = p
	m.turnPane()
	m.followWatched()
	if p == panelPeek {
		m.hidden = false
	}
	if r := m.agents.At(m.list()); r != nil && p == panelQuarantine {
		m.choose(r.name)
	}
}

func (m *model) cycle(n int) {
	ring := []panel{panelAgents, panelPools, panelQuarantine, panelAutomations, panelEvents, panelPeek}
	if m.hidden {
		ring = ring[:len(ring)-1]
	}
	if m.guards() {
		ring = slices.Insert(ring, slices.Index(ring, panelEvents)+1, panelWatchdogs)
	}
	at := 0
	for i, p := range ring {
		if p == m.focus {
			at = i
		}
	}
	m.focusOn(ring[(at+n+len(ring))%len(ring)])
}

func (m *model) togglePane() []effect {
	m.hidden = !m.hidden
	if m.hidden && m.focus == panelPeek {
		m.focus, m.zoomed = panelAgents, false
	}
	return nil
}

func (m *model) toggleAttention() []effect {
	m.attention = !m.attention
	m.refill()
	return nil
}

// filter is the focused panel's; the pane's is that of the agents.
func (m *model) filter() *widget.Filter {
	switch m.focus {
	case panelPools:
		return &m.pools.Filter
	case panelAutomations:
		return &m.automations.Filter
	case panelEvents:
		return &m.events.filter
	case panelWatchdogs:
		return &m.watchdogs.Filter
	}
	return &m.agents.Filter
}

// askFilter edits the focused panel's filter; every keystroke shows what it would leave.
func (m *model) askFilter() []effect {
	f := m.filter()
	apply := func(m *model, text string) {
		*f = widget.ParseFilter(text)
		m.refill()
	}
	hint := "!not  ~fuzzy  state: pool: rig:"
	if m.focus == panelEvents {
		hint = "!not  ~fuzzy  type: subject: by: since:10m"
	}
	hint += "  " + m.keys.keyOf("prompt.done") + " keeps  " + m.keys.keyOf("prompt.cancel") + " clears"
	m.prompt = &prompt{
		edit:  widget.NewReplacedEntry(f.Text),
		label: "filter", hint: hint,
		change: apply,
		done:   func(m *model, text string) []effect { apply(m, text); return nil },
		cancel: func(m *model) { apply(m, "") },
	}
	return nil
}

// back undoes one step of looking closer.
func (m *model) back() []effect {
	switch {
	case m.status.failed:
		m.status = status{}
	case m.departure.waits():
		return m.stayHere()
	case m.focus == panelPeek && m.peek.back():
	case m.focus == panelEvents && m.events.frozen:
		m.toEnd()
	case m.focus == panelEvents && m.events.only && !m.events.filter.Active():
		return m.toggleOnly()
	case m.zoomed:
		m.zoomed = false
		m.focus = m.before
	case len(*m.marking().marks) > 0:
		m.unmarkAll(m.marking())
	case len(m.agents.Marks) > 0:
		m.unmarkAll(marking{marks: &m.agents.Marks})
	case m.filter().Active():
		*m.filter() = widget.Filter{}
		m.refill()
	case m.agents.Filter.Active():
		m.agents.Filter = widget.Filter{}
		m.refill()
	case m.attention:
		m.attention = false
		m.refill()
	case m.focus != panelAgents:
		m.focusOn(panelAgents)
	case m.all:
		return m.leaveFor(travel{})
	}
	return nil
}
