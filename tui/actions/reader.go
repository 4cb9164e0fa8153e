package actions

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func showEvent(m *state.Room) []feed.Effect {
	row := *m.Events.Selected()
	openReader(m, &state.Reader{Title: row.Kind, About: state.EventAgent(agentOf(m, &row.Event)),
		Lines: func(int) []string {
			return details.Event(m.Details(), &row)
		}})
	return nil
}

func showDetails(m *state.Room) []feed.Effect {
	if id := m.ActionPanel().About().Details; id != "" {
		return m.Keys.ByID(id).Run(m)
	}
	return showAgent(m)
}

func showPool(m *state.Room) []feed.Effect {
	p := state.Pool(m)
	name := p.Name
	openReader(m, &state.Reader{Title: "pool " + p.Shown,
		Lines: func(int) []string {
			return details.Pool(m.Details(), name)
		}})
	return nil
}

func showCity(m *state.Room) []feed.Effect {
	text := &state.CityText{}
	openReader(m, &state.Reader{Title: state.CityTitle(m, 50), About: text,
		Lines:  func(int) []string { return details.City(m.Details(), text.Cursor(m)) },
		Select: func(n int) bool { return text.Select(m, n) },
		OnKey: func(key string) []state.Task {
			a := state.FindAlert(m, func(a *panel.Alert) bool { return a.Key == key })
			if a == nil {
				return nil
			}
			return []state.Task{func(m *state.Room) []feed.Effect { return showProblem(m, a) }}
		}})
	return nil
}

func closeReader(m *state.Room) []feed.Effect {
	m.Dialogs.CloseIn(keymap.InReader)
	return nil
}

func showProblemRow(m *state.Room) []feed.Effect {
	if a := state.SelectedProblem(m); a != nil {
		return showProblem(m, a)
	}
	return closeReader(m)
}

func showProblem(m *state.Room, a *panel.Alert) []feed.Effect {
	closeReader(m)
	todo, why := runAsKey(a.Action)(m, nil)
	if why != "" {
		state.ShowFailure(m, state.Refusal(m, m.Keys.ByID(a.Action).Title(), why))
		return nil
	}
	if len(a.Rows) > 0 {
		goToRow(m, m.Focused(), a.Rows[0])
	}
	return todo
}

func openReader(m *state.Room, r *state.Reader) { m.Dialogs.Open(withKeys(m, r)) }

// withKeys makes a reader wrap its lines and show its keys.
func withKeys(m *state.Room, r *state.Reader) *state.Reader {
	lines := r.Lines
	r.Lines = func(w int) []string { return widget.WrapAll(lines(w), w) }
	r.Hints = func() []string { return readerKeys(m) }
	return r
}
