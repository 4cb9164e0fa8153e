package tui

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// panelActions returns the actions that the panels define.
func panelActions(all []panel.Panel) []action {
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
					In:    []keymap.Zone{p.About().Zone},
					Why:   func(m *model) string { return refusedIn(m, p, a) },
					Run:   func(m *model) []feed.Effect { return grant(m, a.Action.Run(m.env())) },
				},
			)
		}
	}
	return actions
}

// refusedIn returns why an action of a panel is not possible now, or "".
func refusedIn(m *model, p panel.Panel, a panel.Action) string {
	switch {
	case a.Writes && m.mode == ReadOnly:
		return needWritable(m)
	case m.focus != p.About().ID || p.Subject().Name == "":
		return noneIn(m, p)
	}
	return a.Action.Refused(m.env())
}

func grant(m *model, all []panel.Request) (todo []feed.Effect) {
	for _, r := range all {
		todo = append(todo, grantOne(m, r)...)
	}
	return todo
}

func grantOne(m *model, r panel.Request) []feed.Effect {
	switch {
	case r.Lines != nil:
		openReader(m, &reader{Title: r.Title, Lines: func(w int) []string { return r.Lines(m.env(), w) }})
	case len(r.Commands) > 0:
		do := func(m *model) []feed.Effect { return carry(m, r.Doing, r.What, r.Commands) }
		q := question{title: r.Ask, whom: r.Whom, body: r.Body, verb: r.Verb, count: r.Count,
			do: do}
		if r.Count > 0 {
			ask(m, q)
			return nil
		}
		return perhaps(m, q)
	case r.Visit != "":
		focusOn(m, panel.IDAgents)
		return chooseNamed(m, r.Visit)
	case r.Go != "":
		from := m.focus
		focusOn(m, r.Go)
		m.trail = from
		*filter(m) = widget.ParseFilter(r.Filter)
		m.refill()
	}
	return nil
}
