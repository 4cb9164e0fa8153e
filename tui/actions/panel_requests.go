package actions

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func panelActions(all []panel.Panel) []state.Action {
	var actions []state.Action
	for _, p := range all {
		for _, a := range p.Actions() {
			actions = append(
				actions,
				state.Action{
					ID:    a.Action.ID,
					Key:   a.Action.Key,
					Short: a.Action.Short,
					Risk:  a.Action.Risk,
					In:    []keymap.Zone{p.About().Zone},
					Why:   func(m *state.Room) string { return whyUnavailable(m, p, a) },
					Run: func(m *state.Room) []feed.Effect {
						return runRequests(m, a.Action.Run(m.Env()))
					},
				},
			)
		}
	}
	return actions
}

func whyUnavailable(m *state.Room, p panel.Panel, a panel.Action) string {
	switch why := state.NeedWritable(m); {
	case a.Writes && why != "":
		return why
	case m.Focus != p.About().ID || p.Subject().Name == "":
		return state.NothingSelected(m, p)
	}
	return a.Action.WhyUnavailable(m.Env())
}

func runRequests(m *state.Room, all []panel.Request) (todo []feed.Effect) {
	for _, r := range all {
		todo = append(todo, runRequest(m, r)...)
	}
	return todo
}

func runRequest(m *state.Room, r panel.Request) []feed.Effect {
	switch {
	case r.Lines != nil:
		openReader(m, &state.Reader{Title: r.Title, Lines: func(w int) []string {
			return r.Lines(m.Env(), w)
		}})
	case r.Build != nil:
		asked := r.Build(r.Rigs)
		return askLiveIfWanted(m, about(m, r.Rigs, m.Rigs.Find, func(_ *state.Room,
			rows []*panel.RigRow) question {
			now := r.Build(rows)
			if now.Doing != asked.Doing || len(now.Commands) == 0 {
				return nothingDone(now.What + " changed in the meantime")
			}
			return requestQuestion(now)
		}))
	case len(r.Commands) > 0:
		return askIfWanted(m, requestQuestion(r))
	case r.Select != "":
		state.FocusOn(m, panel.IDAgents)
		return chooseNamed(m, r.Select)
	case r.GoTo != "":
		from := m.Focus
		state.FocusOn(m, r.GoTo)
		m.FilterSource, m.Led = from, r.GoTo
		*state.Filter(m) = widget.ParseFilter(r.Filter)
		m.Refill()
	}
	return nil
}

func requestQuestion(r panel.Request) question {
	return question{title: r.Prompt, targets: r.Targets, body: r.Body, verb: r.Yes,
		count: r.Count, of: r.Counts, harms: r.Count > 0,
		do: sending(r.Doing, r.What, r.Commands...)}
}
