package tui

import (
	"cmp"

	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/widget"
)

// switchCity is what @ does: it offers the cities, or goes back to the room of all of them where one has come from
// there.
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
	f := &finder{Title: citiesTitle(m), None: "No city is called that.", About: citiesList{},
		Verb: "goes there", Reasons: true}
	f.All = cityItems(m)
	openFinderOf(m, f)
	return nil
}

// noDirectory says how other cities come into this room.
func noDirectory(m *model) []string {
	if m.directory {
		return []string{"A supervisor runs now: once this " +
			"is closed, " + m.keys.KeyOf("city.switch") + " goes from city to city."}
	}
	return []string{"This room knows of no city besides " + cityName(m) +
		": no supervisor runs on this machine.", "",
		"`gcity start` in a city's folder registers it and has the supervisor run it; `gcity " +
			"register DIR` registers one, and `gcity cities` lists them.",
		"As soon as one runs this key goes from city to city, and `gcity --all` shows all of them."}
}

// cityItems are the cities to be chosen from.
func cityItems(m *model) []item {
	var items []item
	if m.fleet == nil {
		return nil
	}
	rows := append([]fleet.City(nil), m.fleet.Rows...)
	rows = widget.Arrange(rows, nil, (*fleet.City).Key, func(a *fleet.City, b *fleet.City) int {
		return ranked(m, a, b)
	}, false)
	name := 4
	for i := range rows {
		name = max(name, min(28, widget.Width(rows[i].Shown)))
	}
	if m.homeAt != "" && m.fleet.Within(m.homeAt) == "" {
		name = max(name, min(28, widget.Width(cmp.Or(m.home, cityName(m)))))
	}
	if home := homeItem(m, name); home != nil {
		items = append(items, *home)
	}
	for i := range rows {
		c := rows[i]
		h := fleet.HealthOf(&m.look, &c)
		mark := "  "
		if c.Info.Name == m.at && m.at != "" {
			mark = m.look.Glyphs.Done + " "
		}
		items = append(items, item{
			Title: mark + widget.FitName(c.Shown, name, m.look.Glyphs.More) + "  " + h.Sign + " " +
				widget.Fit(h.Word, 9, "") + "  " + c.Counts(),
			Words: c.Shown + " " + widget.Plain(c.Info.Path), Line: c.Info.Name, Tail: c.Why(m.now),
			Run: func(m *model) []feed.Effect { return visitCity(m, c.Info.Name, c.Info.Path, "") },
		})
	}
	return append(items, item{Title: "  all cities, side by side", Words: "fleet",
		Line: "fleet.show",
		Run:  func(m *model) []feed.Effect { return leaveFor(m, feed.SwitchCity{}) }})
}

// homeItem is the city that this room was opened for where the list does not have it, nil where it has.
func homeItem(m *model, name int) *item {
	if m.homeAt == "" || m.fleet.Within(m.homeAt) != "" {
		return nil
	}
	shown, mark := m.home, "  "
	if shown == "" {
		shown, mark = cityName(m), m.look.Glyphs.Done+" "
	}
	return &item{Title: mark + widget.FitName(shown, name, m.look.Glyphs.More) +
		"  is in no list; this room was opened for it", Line: shown,
		Run: func(m *model) []feed.Effect {
			if m.home == "" {
				say(m, "this is "+shown)
				return nil
			}
			return leaveFor(m, feed.SwitchCity{Home: true, Name: shown})
		}}
}

// citiesTitle is the title of the list to choose from: whether it is old, too.
func citiesTitle(m *model) string {
	if m.fleet == nil || m.fleet.Gone == "" {
		return "Cities"
	}
	return "Cities, as they were: " + widget.Plain(m.fleet.Gone)
}

// citiesList marks a finder that offers the cities.
type citiesList struct{}

// refreshCities puts what was heard into the open list; the cursor stays on its city.
func refreshCities(m *model) {
	f := m.dialogs.finder()
	f.Title = citiesTitle(m)
	f.Refill(cityItems(m))
}
