package tui

import (
	"cmp"
	"slices"
	"time"

	"gcity/city"
	"gcity/tui/fleet"
	"gcity/tui/widget"
)

// listCities fills the list of all cities from the last update.
func listCities(m *model) {
	t := &m.cities
	if m.fleet == nil {
		return
	}
	t.Rows = widget.Arrange(listed(m), t.Rows, (*fleet.City).Key,
		func(a, b *fleet.City) int { return ranked(m, a, b) }, m.handsOn())
	t.Fill(func(c *fleet.City) bool {
		return c.Passes(&m.cityFilter, fleet.HealthOf(&m.look, c), c.Why(m.now))
	}, nil)
	all := allNeeds(m)
	for i, n := range all {
		if n.city.Info.Name == m.needOf[0] && n.need.Agent == m.needOf[1] {
			m.needAt = i
		}
	}
	moveNeeds(m, 0)
}

func moveNeeds(m *model, n int) {
	all := allNeeds(m)
	m.needAt = max(0, min(m.needAt+n, len(all)-1))
	m.needOf = [2]string{}
	if len(all) > 0 {
		m.needOf = [2]string{all[m.needAt].city.Info.Name, all[m.needAt].need.Agent}
	}
	if len(all) == 0 {
		m.onNeeds = false
	}
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

func stepFleet(m *model, n int) {
	if m.onNeeds {
		moveNeeds(m, n)
		return
	}
	m.cities.Move(n)
}

// chosenCity returns the city under the cursor or, if the cursor is on an agent, the city of that agent. It may be nil.
func chosenCity(m *model) *fleet.City {
	if !m.onNeeds {
		return m.cities.Current()
	}
	if all := allNeeds(m); m.needAt < len(all) {
		return all[m.needAt].city
	}
	return nil
}

// ranked orders cities: cities that need attention first, then by name.
func ranked(m *model, a, b *fleet.City) int {
	return cmp.Or(fleet.HealthOf(&m.look, a).Rank-fleet.HealthOf(&m.look, b).Rank,
		city.CompareNames(a.Info.Name, b.Info.Name))
}

// fleetNeed is an agent that needs attention, with its city.
type fleetNeed struct {
	city *fleet.City
	need *fleet.Need
}

// allNeeds returns the agents of all cities that need attention, the most urgent first.
func allNeeds(m *model) []fleetNeed {
	var all []fleetNeed
	for i := range m.cities.Rows {
		c := &m.cities.Rows[i]
		if !c.Info.Running {
			continue
		}
		for k := range c.Brief.Needs {
			all = append(all, fleetNeed{c, &c.Brief.Needs[k]})
		}
	}
	slices.SortStableFunc(all, func(a, b fleetNeed) int {
		return a.need.State.Urgency() - b.need.State.Urgency()
	})
	return all
}
