package actions

import (
	"slices"
	"strings"
	"time"

	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/palette"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// SwitchCity shows the list of cities, or the all-cities room in a program for all cities. Without a list, it asks
// whether to start the room's city if it has stopped, or explains how to make other cities available.
func SwitchCity(m *state.Room) []feed.Effect {
	stopped := state.StartableHere(m)
	switch {
	case m.Departure.Leaves() && (m.Directory || stopped != nil):
		state.ShowFailure(m, "cannot switch city: "+state.DepartureText(m)+"; "+
			m.Keys.KeyText("view.back")+" stays")
		return nil
	case !m.Directory && stopped != nil:
		return askStart(m, stopped)
	case !m.Directory:
		return ExplainDirectory(m)
	case m.All:
		return state.StartSwitch(m, feed.SwitchCity{})
	}
	// if this room's city has stopped, put the cursor on it, because the alert line says that this key starts it
	openCityList(m, stopped != nil)
	return nil
}

// By default, the cursor is on another city, because most users open the list to switch. If here is true, it is on this
// room's city. If that city is not listed, the first enter does nothing.
func openCityList(m *state.Room, here bool) {
	f := &state.Finder{Title: citiesTitle(m), EmptyText: "No city matches.",
		About: state.CitiesList{},
		Verb:  "switches", Reasons: true}
	f.All = cityItems(m)
	openFinderOf(m, f)
	at := slices.IndexFunc(f.Found, func(t state.Item) bool {
		return !t.Extra && strings.HasPrefix(t.Title, m.Look.Glyphs.Here) == here
	})
	f.Cursor, f.Vanished = max(0, at), here && at < 0
}

func cityItems(m *state.Room) []state.Item {
	var items []state.Item
	if m.Fleet == nil {
		return nil
	}
	rows := widget.SortRows(widget.Pointers(state.Listed(m)), nil,
		func(a, b *fleet.City) int { return state.CompareCities(m, a, b) }, false)
	name := 4
	for _, c := range rows {
		name = max(name, min(28, widget.Width(c.DisplayName)))
	}
	for _, c := range rows {
		h := fleet.HealthOf(&m.Look, c)
		mark := "  "
		if state.IsHere(m, c) {
			mark = m.Look.Glyphs.Here + " "
		}
		item := state.Item{
			Title: mark + m.Look.FitName(c.DisplayName, name) + "  " + h.Sign +
				" " +
				widget.Fit(h.Word, 9, "") + "  " + c.Counts(),
			Label: c.DisplayName, Line: c.Info.Path, Note: c.Why(m.Now), Whole: true,
			Run: func(m *state.Room) []feed.Effect { return visitRow(m, c, "") },
		}
		if state.CanStart(m, c) {
			item.Verb = "asks whether to start it"
		}
		runner, _, _ := strings.Cut(state.RunnerText(m, c), " (")
		if runner != "" && (item.Note == "" || m.W >= 120) {
			item.Note = strings.TrimPrefix(item.Note+"; "+runner, "; ")
		}
		items = append(items, item)
	}
	items = append(items, state.Item{Title: "  all cities in one list", Words: "fleet",
		Line: "fleet.show", Extra: true,
		Run: switching(feed.SwitchCity{})})
	if m.Fleet.Unmaintained {
		items = append(items, state.Item{Title: "  how to start a supervisor",
			Note: "no supervisor is running", Line: "supervisor", Verb: "explains it",
			Extra: true, Run: ExplainDirectory})
	}
	if len(rows) == 1 {
		items = append(items, state.Item{Title: "  " + state.AddCity, Line: "second", Info: true,
			Extra: true})
	}
	return items
}

// ListNewCities replaces the text about other cities with the list as soon as another city is known. If the text was
// visible long enough for the user to react to it, the cursor is on this room's city, because the next key may still be
// meant for the text.
func ListNewCities(m *state.Room) {
	if m.Dialogs.Subject() != any(state.NoCities{}) {
		return
	}
	if !m.Directory || m.All || m.Departure.Leaves() {
		return
	}
	m.Dialogs.Close(m.Dialogs.Reader())
	openCityList(m, m.Now.Sub(m.CitiesOpenedAt) > readable)
}

// readable is the time that a user needs to react to a new text.
const readable = 400 * time.Millisecond

// ExplainDirectory shows how to make other cities available.
func ExplainDirectory(m *state.Room) []feed.Effect {
	var about any
	if !m.Directory {
		about = state.NoCities{}
	}
	openReader(m, &state.Reader{Title: "Other cities", About: about,
		Lines: func(int) []string { return state.NoDirectory(m) }})
	return nil
}

func askStart(m *state.Room, c *fleet.City) []feed.Effect {
	return askLive(m, aboutCity(m, c, startQuestion))
}

func startQuestion(m *state.Room, c *fleet.City) question {
	if !state.CanStart(m, c) {
		return nothingDone(c.DisplayName + " is no longer stopped")
	}
	to := feed.SwitchCity{Name: c.Info.Name, Path: c.Info.Path, Start: true}
	stop := "The city will keep running after you quit; run `gcity stop` in that folder to " +
		"stop it."
	body := []string{"The city in " + widget.Plain(c.Info.Path) + " has no controller. If you " +
		"answer yes, a controller will start in the background and run the city's " +
		"agents. " + stop}
	if !m.Fleet.Unmaintained {
		body = []string{"The city in " + widget.Plain(c.Info.Path) + " is not registered. If you " +
			"answer yes, the supervisor will register it and run its agents. " + stop}
	}
	verb := "start it, and go there"
	if state.IsHere(m, c) {
		verb = "start it"
	}
	return question{title: "Start " + c.DisplayName + "?", verb: verb, body: body,
		do: switching(to)}
}

func citiesTitle(m *state.Room) string {
	switch {
	case m.Fleet != nil && m.Fleet.Unmaintained:
		return "Cities: no supervisor is running"
	case m.Fleet == nil || m.Fleet.Problem == "":
		return "Cities"
	}
	return "Cities (outdated): " + widget.Plain(m.Fleet.Problem)
}

// RefreshCities updates the open list of cities. The cursor stays on the same city.
func RefreshCities(m *state.Room) {
	f := m.Dialogs.Finder()
	f.Title = citiesTitle(m)
	f.Refill(cityItems(m))
}

func visitCity(m *state.Room, name, path, agent string) []feed.Effect {
	if !m.FleetRoom && name == m.At && (m.Folder == "" || path == m.Folder) &&
		(m.OpenedAs == "" || m.OpenedAs == name) {
		state.ShowSuccess(m, "already in "+state.CityTitle(m, 50))
		return nil
	}
	return state.StartSwitch(m, feed.SwitchCity{Name: name, Path: path, Agent: agent})
}

func visitRow(m *state.Room, c *fleet.City, agent string) []feed.Effect {
	switch {
	case c.Unregistered && !state.IsHere(m, c):
		return state.StartSwitch(m, feed.SwitchCity{Home: true, Name: c.Info.Name, Agent: agent})
	case c.Unregistered:
		state.ShowSuccess(m, "already in "+c.DisplayName)
		return nil
	case state.CanStart(m, c):
		return askStart(m, c)
	}
	return visitCity(m, c.Info.Name, c.Info.Path, agent)
}

func cityNames(m *state.Room) []state.Word {
	var all []state.Word
	if m.Fleet == nil {
		return nil
	}
	for i := range m.Fleet.Rows {
		if c := &m.Fleet.Rows[i]; c.Info.Name != m.At {
			all = append(all, state.Word{Word: c.Info.Name, Note: fleet.HealthOf(&m.Look, c).Word,
				Noun: "city"})
		}
	}
	return all
}

func cityLine(m *state.Room, args []string) ([]feed.Effect, string) {
	if !m.Directory {
		return nil, state.NoDirectory(m)[0]
	}
	c := m.Fleet.Find(args[0])
	if c == nil {
		return nil, palette.Unknown("city", args[0], cityNames(m))
	}
	return visitRow(m, c, ""), ""
}

func needFleet(m *state.Room) string {
	if !m.Directory {
		return strings.TrimSuffix(state.NoDirectory(m)[0], ".") + "; " +
			m.Keys.KeyText("city.switch") + " explains more"
	}
	return ""
}
