package tui

import (
	"maps"

	"gcity/city"
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
		{id: "focus.agents", title: "go to Agents", keys: []string{"1"}, in: global, run: focusOn(panelAgents)},
		{id: "focus.quarantine", title: "go to Quarantine", keys: []string{"3"}, in: global, run: focusOn(panelQuarantine)},
		{id: "focus.events", title: "go to Events", keys: []string{"5"}, in: global, run: focusOn(panelEvents)},
		{id: "focus.peek", title: "go to the agent's terminal", keys: []string{"0"}, in: global, run: focusOn(panelPeek)},
		{id: "focus.next", title: "go to the next panel", keys: []string{"tab"}, in: global,
			run: func(m *model) []effect { m.cycle(1); return nil }},
		{id: "focus.previous", title: "go to the panel before", keys: []string{"shift+tab"}, in: global,
			run: func(m *model) []effect { m.cycle(-1); return nil }},
		{id: "view.zoom", title: "zoom the panel, or back", keys: []string{"f"}, in: global,
			run: func(m *model) []effect { m.zoomed = !m.zoomed; m.before = m.focus; return nil }},
		{id: "view.event", title: "show all of the event", short: "detail", keys: []string{"enter"}, in: []zone{inEvents},
			why: needEvent, run: (*model).showEvent},
		{id: "view.filter", title: "filter: words that all must match; !not ~fuzzy state:run", short: "filter", keys: []string{"/"},
			in: []zone{inLists, inEvents}, run: (*model).askFilter},
		{id: "view.attention", title: "only what needs attention, or all", short: "attention", keys: []string{"!"}, in: []zone{inLists},
			run: (*model).toggleAttention},
		{id: "view.fit", title: "wrap lines wider than the pane, or cut them", short: "fit", keys: []string{"z"}, in: []zone{inPeek},
			run: func(m *model) []effect { m.peek.fit = !m.peek.fit; return nil }},
		{id: "view.pane", title: "the agent's terminal: show or hide", keys: []string{"p"}, in: global, run: (*model).togglePane},
		{id: "view.pane.place", title: "the agent's terminal: beside or below (wide screens)", keys: []string{"P"}, in: global,
			run: func(m *model) []effect { m.below, m.hidden = !m.below, false; return nil }},
		{id: "view.redraw", title: "draw the screen anew", keys: []string{"ctrl+l"}, in: global,
			run: func(m *model) []effect { return []effect{redraw{}} }},
		{id: "city.details", title: "the city: its problems in full, configuration, controller", keys: []string{"c"}, in: global,
			why: needCity, run: (*model).showCity},
		{id: "city.reload", title: "read the configuration now", in: global, why: needWritable, run: (*model).reload},
		{id: "city.suspend", title: "suspend the whole city, or resume it", in: global, risk: confirmed, why: needWritable,
			run: (*model).askSuspendCity},
		{id: "view.palette", title: "palette: find an action and run it", short: "palette", keys: []string{":", "ctrl+p"}, in: global,
			run: func(m *model) []effect { m.openFinder(true); return nil }},
		{id: "view.help", title: "help: every key; / searches, enter runs", short: "help", keys: []string{"?"}, in: global,
			run: func(m *model) []effect { m.openFinder(false); return nil }},
		{id: "view.back", title: "one step back; never leaves", keys: []string{"esc"}, in: global, run: (*model).back},
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

func (m *model) reload() []effect {
	id := m.begin("reading the configuration " + m.look.glyph.More)
	return []effect{perform{id: id, title: "reload", commands: []city.Command{city.Reload{}}}}
}

func (m *model) askSuspendCity() []effect {
	do := func(what string, c city.Command) func(*model) []effect {
		return func(m *model) []effect {
			id := m.begin(what + " the city " + m.look.glyph.More)
			return []effect{perform{id: id, title: what, commands: []city.Command{c}}}
		}
	}
	if m.snap != nil && m.snap.Suspended {
		return do("resuming", city.Resume{})(m)
	}
	m.ask("Suspend "+m.cityName()+"?", []string{"All sessions end, and none begins until the city is resumed."}, "suspend", nil,
		do("suspending", city.Suspend{}))
	return nil
}

func (m *model) focusOn(p panel) {
	if m.focus != p {
		m.zoomed = false
		m.before = m.focus
	}
	m.focus = p
	if p == panelPeek {
		m.hidden = false
	}
	if l := m.list(); l != nil {
		if r := l.selected(&m.roster); r != nil && p == panelQuarantine {
			m.choose(r.name)
		}
	}
}

func (m *model) cycle(n int) {
	ring := []panel{panelAgents, panelQuarantine, panelEvents, panelPeek}
	if m.hidden {
		ring = ring[:3]
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

// askFilter edits the focused panel's filter; every keystroke shows what it would leave.
func (m *model) askFilter() []effect {
	f := &m.agentFilter
	if m.focus == panelEvents {
		f = &m.eventFilter
	}
	old := *f
	apply := func(m *model, text string) {
		*f = parseFilter(text)
		m.refill()
	}
	m.prompt = &prompt{
		label: "filter", hint: "!not  ~fuzzy  state:  enter keeps  esc clears",
		change: apply,
		done:   func(m *model, text string) []effect { apply(m, text); return nil },
		cancel: func(m *model) { apply(m, "") },
	}
	m.prompt.edit.set(old.text)
	return nil
}

// back undoes one step of looking closer.
func (m *model) back() []effect {
	switch {
	case m.status.failed:
		m.status = status{}
	case m.focus == panelPeek && m.peek.frozen():
		m.peek.follow()
	case m.focus == panelEvents && m.events.frozen:
		m.toEnd()
	case m.zoomed:
		m.zoomed = false
		m.focus = m.before
	case len(m.marks) > 0:
		m.marks = map[string]bool{}
	case m.focus == panelEvents && m.eventFilter.active():
		m.eventFilter = filter{}
		m.refill()
	case m.agentFilter.active():
		m.agentFilter = filter{}
		m.refill()
	case m.attention:
		m.attention = false
		m.refill()
	case m.focus != panelAgents:
		m.focusOn(panelAgents)
	}
	return nil
}
