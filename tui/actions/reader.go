package actions

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func showEvent(m *state.Room) []feed.Effect {
	row := *m.Events.Selected()
	openReader(m, &state.Reader{Title: row.Kind, About: state.EventAgent(agentOf(m, &row.Event)),
		Lines: func(w int) []string {
			return widget.WrapAll(details.Event(m.Details(), &row), w)
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
		Lines: func(w int) []string {
			return widget.WrapAll(details.Pool(m.Details(), name), w)
		}})
	return nil
}

func showCity(m *state.Room) []feed.Effect {
	openReader(m, &state.Reader{Title: state.CityTitle(m, 50),
		Lines: func(w int) []string { return widget.WrapAll(details.City(m.Details()), w) }})
	return nil
}

func openReader(m *state.Room, r *state.Reader) {
	r.Hints = func() []string { return readerKeys(m) }
	m.Dialogs.Open(r)
}
