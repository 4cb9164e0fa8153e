package tui

import (
	"slices"
	"strings"
	"time"

	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/widget"
)

// switchCity offers the cities, or goes to the room of all cities if the program was started for all cities.
func switchCity(m *model) []feed.Effect {
	switch {
	case !m.directory:
		m.read(&reader{Title: "Other cities",
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

// unlisted returns the city that the program was started for if it is not registered, or nil.
func unlisted(m *model) *fleet.City {
	switch {
	case m.homeAt == "" || m.fleet.Within(m.homeAt) != "":
		return nil
	case m.home == "":
		return fleet.Opened(cityName(m), m.homeAt, m.snap, m.now, time.Time{})
	}
	return fleet.Opened(m.home, m.homeAt, m.homeSnap, m.homeSeen, m.homeSeen)
}

// listed returns the rows of all cities, including the city that is not registered.
func listed(m *model) []fleet.City {
	rows := slices.Clone(m.fleet.Rows)
	if c := unlisted(m); c != nil {
		rows = append(rows, *c)
	}
	return rows
}

// isHere reports whether a row shows the city of this room.
func isHere(m *model, c *fleet.City) bool {
	if c.Opened {
		return m.home == "" && !m.fleetRoom
	}
	return c.Info.Name == m.at && m.at != ""
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
