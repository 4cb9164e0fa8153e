package tui

import (
	"slices"
	"strings"

	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/palette"
	"gcity/tui/widget"
)

// switchCity offers the cities, or goes to the room of all cities if the program was started for all cities.
func switchCity(m *model) []feed.Effect {
	switch {
	case !m.directory:
		openReader(m, &reader{Title: "Other cities",
			Lines: func(w int) []string { return widget.WrapAll(noDirectory(m), w) }})
		return nil
	case m.departure.waits():
		complain(m, "cannot switch city: "+departureText(m)+"; "+m.keys.KeyOf("view.back")+
			" stays")
		return nil
	case m.all:
		return leaveFor(m, feed.SwitchCity{})
	}
	f := &finder{Title: citiesTitle(m), None: "No city has this name.", About: citiesList{},
		Verb: "switches", Reasons: true}
	f.All = cityItems(m)
	openFinderOf(m, f)
	// The cursor starts on another city, because most users open the list to switch.
	f.At = max(0, slices.IndexFunc(f.Found, func(t item) bool {
		return !strings.HasPrefix(t.Title, m.look.Glyphs.Done)
	}))
	return nil
}

// noDirectory explains how other cities become available.
func noDirectory(m *model) []string {
	if m.directory {
		return []string{"A supervisor is running now. After you " +
			"close this, " + m.keys.KeyOf("city.switch") + " switches between cities."}
	}
	return []string{"Only " + cityName(m) +
		" is known: no supervisor is running on this machine.", "",
		"`gcity start` in a city's folder registers it and starts the supervisor; `gcity " +
			"register DIR` registers a city, and `gcity cities` lists all.",
		"With a supervisor this key switches between cities, and `gcity --all` shows all of them."}
}

// cityItems returns the cities to choose from.
func cityItems(m *model) []item {
	var items []item
	if m.fleet == nil {
		return nil
	}
	rows := widget.Arrange(listed(m), nil, (*fleet.City).Key,
		func(a, b *fleet.City) int { return ranked(m, a, b) }, false)
	name := 4
	for i := range rows {
		name = max(name, min(28, widget.Width(rows[i].Shown)))
	}
	for i := range rows {
		c := rows[i]
		h := fleet.HealthOf(&m.look, &c)
		mark := "  "
		if isHere(m, &c) {
			mark = m.look.Glyphs.Done + " "
		}
		items = append(items, item{
			Title: mark + widget.FitName(c.Shown, name, m.look.Glyphs.More) + "  " + h.Sign + " " +
				widget.Fit(h.Word, 9, "") + "  " + c.Counts(),
			Words: c.Shown + " " + widget.Plain(c.Info.Path), Line: c.Info.Name, Tail: c.Why(m.now),
			Run: func(m *model) []feed.Effect { return visitRow(m, &c, "") },
		})
	}
	return append(items, item{Title: "  all cities in one list", Words: "fleet",
		Line: "fleet.show",
		Run:  func(m *model) []feed.Effect { return leaveFor(m, feed.SwitchCity{}) }})
}

// citiesTitle returns the title of the list of cities, with a note if the list is outdated.
func citiesTitle(m *model) string {
	if m.fleet == nil || m.fleet.Gone == "" {
		return "Cities"
	}
	return "Cities (outdated): " + widget.Plain(m.fleet.Gone)
}

// citiesList identifies the finder that lists the cities.
type citiesList struct{}

// refreshCities updates the open list and keeps the cursor on its city.
func refreshCities(m *model) {
	f := m.dialogs.finder()
	f.Title = citiesTitle(m)
	f.Refill(cityItems(m))
}

// visitCity switches to a city of the list.
func visitCity(m *model, name, path, agent string) []feed.Effect {
	if !m.fleetRoom && name == m.at && (m.folder == "" || path == m.folder) &&
		(m.under == "" || m.under == name) {
		say(m, "this is "+widget.Plain(name))
		return nil
	}
	return leaveFor(m, feed.SwitchCity{Name: name, Path: path, Agent: agent})
}

// visitRow switches to the city of a row.
func visitRow(m *model, c *fleet.City, agent string) []feed.Effect {
	if c.Opened && !isHere(m, c) {
		return leaveFor(m, feed.SwitchCity{Home: true, Name: c.Info.Name, Agent: agent})
	} else if c.Opened {
		say(m, "this is "+c.Shown)
		return nil
	}
	return visitCity(m, c.Info.Name, c.Info.Path, agent)
}

// leaveFor starts a switch. Until it ends, only the key that cancels it works: other keys are meant for the new city.
func leaveFor(m *model, t feed.SwitchCity) []feed.Effect {
	if m.departure.waits() {
		complain(m, "cannot switch city: "+departureText(m))
		return nil
	}
	where := widget.Plain(t.Name)
	if t.Name == "" {
		where = "all cities"
	}
	before := m.status
	t.ID = begin(m, "going to "+where+" "+m.look.Glyphs.More)
	m.going = citySwitch{t.ID, where, before}
	return []feed.Effect{t}
}

// cityNames returns the other cities, for the palette.
func cityNames(m *model, _ []string) []word {
	var all []word
	if m.fleet == nil {
		return nil
	}
	for i := range m.fleet.Rows {
		if c := &m.fleet.Rows[i]; c.Info.Name != m.at {
			all = append(all, word{Word: c.Info.Name, Note: fleet.HealthOf(&m.look, c).Word,
				Noun: "city"})
		}
	}
	return all
}

func cityLine(m *model, args []string) ([]feed.Effect, string) {
	if !m.directory {
		return nil, noDirectory(m)[0]
	}
	c := m.fleet.Find(args[0])
	if c == nil {
		return nil, palette.Unknown("city", args[0], cityNames(m, nil))
	}
	return visitCity(m, c.Info.Name, c.Info.Path, ""), ""
}

// needFleet returns why the room of all cities is not available.
func needFleet(m *model) string {
	if !m.directory {
		return strings.TrimSuffix(noDirectory(m)[0], ".") + "; " + m.keys.KeyOf("city.switch") +
			" explains more"
	}
	return ""
}
