package tui

import (
	"cmp"
	"fmt"

	"gcity/tui/widget"
)

// switchCity is what @ does: it offers the cities, or goes back to the room of all of them where one has come from
// there.
func (m *model) switchCity() []effect {
	switch {
	case !m.directory:
		m.read(&reader{Title: "Other cities",
			Lines: func(w int) []string { return widget.WrapAll(m.noDirectory(), w) }})
		return nil
	case m.departure.waits():
		m.complain("cannot switch city: " + m.departureText() + "; " + m.keys.KeyOf("view.back") +
			" stays")
		return nil
	case m.all:
		return m.leaveFor(travel{})
	}
	f := &finder{Title: m.citiesTitle(), None: "No city is called that.", About: citiesList{},
		Verb: "goes there", Reasons: true}
	f.All = m.cityItems()
	m.open(f)
	return nil
}

// noDirectory says how other cities come into this room.
func (m *model) noDirectory() []string {
	if m.directory {
		return []string{"A supervisor runs now: once this " +
			"is closed, " + m.keys.KeyOf("city.switch") + " goes from city to city."}
	}
	return []string{"This room knows of no city besides " + m.cityName() +
		": no supervisor runs on this machine.", "",
		"`gcity start` in a city's folder registers it and has the supervisor run it; `gcity " +
			"register DIR` registers one, and `gcity cities` lists them.",
		"As soon as one runs this key goes from city to city, and `gcity --all` shows all of them."}
}

// cityItems are the cities to be chosen from.
func (m *model) cityItems() []item {
	var items []item
	if m.fleet == nil {
		return nil
	}
	rows := append([]sister(nil), m.fleet.rows...)
	rows = widget.Arrange(rows, nil, (*sister).Key, m.ranked, false)
	name := 4
	for i := range rows {
		name = max(name, min(28, widget.Width(rows[i].shown)))
	}
	if m.homeAt != "" && m.fleet.within(m.homeAt) == "" {
		name = max(name, min(28, widget.Width(cmp.Or(m.home, m.cityName()))))
	}
	if home := m.homeItem(name); home != nil {
		items = append(items, *home)
	}
	for i := range rows {
		c := rows[i]
		h := cityHealth(&m.look, &c)
		mark := "  "
		if c.info.Name == m.at && m.at != "" {
			mark = m.look.Glyphs.Done + " "
		}
		items = append(items, item{
			Title: mark + widget.FitName(c.shown, name, m.look.Glyphs.More) + "  " + h.sign + " " +
				widget.Fit(h.word, 9, "") + "  " + c.counts(),
			Words: c.shown + " " + widget.Plain(c.info.Path), Line: c.info.Name, Tail: c.why(m.now),
			Run: func(m *model) []effect { return m.visitCity(c.info.Name, c.info.Path, "") },
		})
	}
	return append(items, item{Title: "  all cities, side by side", Words: "fleet",
		Line: "fleet.show",
		Run:  func(m *model) []effect { return m.leaveFor(travel{}) }})
}

// homeItem is the city that this room was opened for where the list does not have it, nil where it has.
func (m *model) homeItem(name int) *item {
	if m.homeAt == "" || m.fleet.within(m.homeAt) != "" {
		return nil
	}
	shown, mark := m.home, "  "
	if shown == "" {
		shown, mark = m.cityName(), m.look.Glyphs.Done+" "
	}
	return &item{Title: mark + widget.FitName(shown, name, m.look.Glyphs.More) +
		"  is in no list; this room was opened for it", Line: shown,
		Run: func(m *model) []effect {
			if m.home == "" {
				m.say("this is " + shown)
				return nil
			}
			return m.leaveFor(travel{home: true, name: shown})
		}}
}

// counts are a city's numbers, in a few words; what is wrong stands beside them.
func (c *sister) counts() string {
	if !c.known || !c.info.Running {
		return ""
	}
	loop := "loop ok"
	switch {
	case c.mute != "":
		loop = "loop ?"
	case c.brief.late > 0:
		loop = "loop " + widget.Age(c.brief.late)
	}
	return widget.Fit(fmt.Sprintf("%d/%d run", c.brief.running, c.brief.agents), 9, "") + " " + loop
}

// citiesTitle is the title of the list to choose from: whether it is old, too.
func (m *model) citiesTitle() string {
	if m.fleet == nil || m.fleet.gone == "" {
		return "Cities"
	}
	return "Cities, as they were: " + widget.Plain(m.fleet.gone)
}

// citiesList marks a finder that offers the cities.
type citiesList struct{}

// refreshCities puts what was heard into the open list; the cursor stays on its city.
func (m *model) refreshCities() {
	f := m.dialogs.finder()
	f.Title = m.citiesTitle()
	f.Refill(m.cityItems())
}
