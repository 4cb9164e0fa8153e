package tui

import "gcity/tui/keymap"

// panelActions are what only one panel can do, of all panels.
func panelActions(all []Panel) []action {
	var actions []action
	for _, p := range all {
		for _, a := range p.Actions() {
			actions = append(
				actions,
				action{
					ID:    a.Action.ID,
					Key:   a.Action.Key,
					Short: a.Action.Short,
					Risk:  a.Action.Risk,
					In:    []keymap.Zone{p.about().zone},
					Why:   func(m *model) string { return m.refusedIn(p, a) },
					Run:   func(m *model) []effect { return m.grant(a.Action.Run(m.env())) },
				},
			)
		}
	}
	return actions
}

// refusedIn is why an action of a panel cannot be done now, "" if it can.
func (m *model) refusedIn(p Panel, a panelAction) string {
	switch {
	case a.writes && m.mode == ReadOnly:
		return needWritable(m)
	case m.focus != p.about().id || p.Subject().Name == "":
		return m.noneIn(p)
	}
	return a.Action.Refused(m.env())
}

// grant does what a panel asks for.
func (m *model) grant(all []request) (todo []effect) {
	for _, r := range all {
		todo = append(todo, m.grantOne(r)...)
	}
	return todo
}

func (m *model) grantOne(r request) []effect {
	switch {
	case r.lines != nil:
		m.read(&reader{Title: r.title, Lines: func(w int) []string { return r.lines(m.env(), w) }})
	case len(r.commands) > 0:
		do := func(m *model) []effect { return m.carry(r.doing, r.what, r.commands) }
		return m.perhaps(question{title: r.ask, verb: r.verb, do: do})
	case r.visit != "":
		m.focusOn(panelAgents)
		return m.chooseNamed(r.visit)
	}
	return nil
}
