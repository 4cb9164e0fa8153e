package state

import (
	"cmp"
	"slices"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/widget"
)

// ListCities fills the list of all cities from the latest update. Rows that the user is working with stay until the
// cursor leaves them.
func ListCities(m *Room) {
	t := &m.Cities
	listCities(m, func(id string) bool { return id == t.SelectedKey || m.userIsActive() })
}

// FilterCities applies the filter to the list of all cities after the user has changed it.
func FilterCities(m *Room) { listCities(m, nil) }

func listCities(m *Room, holds func(id string) bool) {
	t := &m.Cities
	if m.Fleet == nil {
		return
	}
	rows := Listed(m)
	m.sameName, m.homeSameName = "", ""
	for i := range rows {
		if IsHere(m, &rows[i]) {
			m.sameName = rows[i].Folder
		}
		if rows[i].Info.Path == m.HomeFolder {
			m.homeSameName = rows[i].Folder
		}
	}
	t.Rows = widget.SortRows(widget.Pointers(rows), t.Rows,
		func(a, b *fleet.City) int { return CompareCities(m, a, b) }, m.userIsActive())
	t.Fill(func(*fleet.City) bool { return true }, func(c *fleet.City) bool {
		return c.Matches(&m.CityFilter, fleet.HealthOf(&m.Look, c), c.Why(m.Now))
	}, holds)
	all := AllNeeds(m)
	for i, n := range all {
		if n.City.Key() == m.NeedOf[0] && n.Need.Agent == m.NeedOf[1] {
			m.NeedCursor = i
		}
	}
	MoveNeeds(m, 0)
}

// CitiesList is the subject of the finder that lists the cities.
type CitiesList struct{}

// NoCities is the subject of the text that says that no other city is known.
type NoCities struct{}

const citiesReadGap = 500 * time.Millisecond

// RequestCities requests the list of cities repeatedly while it is open.
func RequestCities(m *Room) {
	list := m.Dialogs.Finder()
	switch shown := list != nil && list.About == any(CitiesList{}) ||
		m.Dialogs.Subject() == any(NoCities{}); {
	case !shown:
		m.citiesReadAt = time.Time{}
	case m.Now.Sub(m.citiesReadAt) >= citiesReadGap:
		if m.citiesReadAt.IsZero() {
			m.CitiesOpenedAt = m.Now
		}
		m.citiesReadAt = m.Now
		m.Todo = append(m.Todo, feed.RefreshCities{})
	}
}

// MoveNeeds moves the cursor by n rows in the list of agents that need attention.
func MoveNeeds(m *Room, n int) {
	all := AllNeeds(m)
	m.NeedCursor = max(0, min(m.NeedCursor+n, len(all)-1))
	m.NeedOf = [2]string{}
	if len(all) > 0 {
		m.NeedOf = [2]string{all[m.NeedCursor].City.Key(), all[m.NeedCursor].Need.Agent}
	}
	if len(all) == 0 {
		m.OnNeeds = false
	}
}

// Unlisted returns the city that the program was started for, or nil if that city is registered.
func Unlisted(m *Room) *fleet.City {
	switch {
	case m.HomeFolder == "" || m.Fleet.NameOf(m.HomeFolder) != "":
		return nil
	case m.Home == "":
		return fleet.UnregisteredCity(CityName(m), m.HomeFolder, m.Snap, m.Now, time.Time{})
	}
	return fleet.UnregisteredCity(m.Home, m.HomeFolder, m.HomeSnap, m.HomeSeen, m.HomeSeen)
}

// Listed returns the rows of all cities, including the one that the program was started for.
func Listed(m *Room) []fleet.City {
	rows := slices.Clone(m.Fleet.Rows)
	if c := Unlisted(m); c != nil {
		rows = append(rows, *c)
		fleet.Distinguish(rows)
	}
	return rows
}

// IsHere reports whether a row is about the city of this room.
func IsHere(m *Room, c *fleet.City) bool {
	if c.Unregistered {
		return m.Home == "" && !m.FleetRoom
	}
	return c.Info.Name == m.At && m.At != ""
}

// CanStart reports whether this room can start a city.
func CanStart(m *Room, c *fleet.City) bool {
	return m.Fleet != nil && m.Mode != ReadOnly && !c.Unregistered && c.Info.Error == "" &&
		(c.IsStopped() || IsHere(m, c) && Uncontrollable(m) && hasNoController(m))
}

// StartableHere returns the room's city if it has stopped and this room can start it, or nil.
func StartableHere(m *Room) *fleet.City {
	c := m.Fleet.Find(m.At)
	if c != nil && IsHere(m, c) && Uncontrollable(m) && CanStart(m, c) {
		return c
	}
	return nil
}

// RunnerText says which process runs a city: "this control room", "background (gcity --headless, pid 7)".
func RunnerText(m *Room, c *fleet.City) string {
	switch {
	case !c.Info.Running:
		return ""
	case IsHere(m, c) && m.Mode == Hosting, m.HostsHome && c.Info.Path == m.HomeFolder:
		return "this control room"
	}
	if c.Summary.Mode == "console" {
		return "another " + c.Summary.Runner()
	}
	return c.Summary.Runner()
}

// StepFleet moves the cursor by n rows in the list that has the focus in the all-cities room.
func StepFleet(m *Room, n int) {
	if m.OnNeeds {
		MoveNeeds(m, n)
		return
	}
	m.Cities.Move(n)
}

// ChosenCity returns the city under the cursor, or nil. If the cursor is on an agent, it is the agent's city.
func ChosenCity(m *Room) *fleet.City {
	if !m.OnNeeds {
		return m.Cities.Current()
	}
	if all := AllNeeds(m); m.NeedCursor < len(all) {
		return all[m.NeedCursor].City
	}
	return nil
}

// CompareCities orders cities: cities that need attention first, then by name.
func CompareCities(m *Room, a, b *fleet.City) int {
	return cmp.Or(fleet.HealthOf(&m.Look, a).Rank-fleet.HealthOf(&m.Look, b).Rank,
		city.CompareNames(a.Info.Name, b.Info.Name))
}

type fleetNeed struct {
	City *fleet.City
	Need *fleet.Need
}

// AllNeeds returns the agents that need attention in all running cities, most urgent first.
func AllNeeds(m *Room) []fleetNeed {
	var all []fleetNeed
	for c := range m.Cities.All() {
		if !c.Info.Running {
			continue
		}
		for k := range c.Summary.Needs {
			all = append(all, fleetNeed{c, &c.Summary.Needs[k]})
		}
	}
	slices.SortStableFunc(all, func(a, b fleetNeed) int {
		return a.Need.State.Urgency() - b.Need.State.Urgency()
	})
	return all
}

// StartSwitch starts a switch to another city.
func StartSwitch(m *Room, t feed.SwitchCity) []feed.Effect {
	if m.Departure.Leaves() {
		ShowFailure(m, "cannot switch city: "+DepartureText(m))
		return nil
	}
	where := widget.Plain(t.Name)
	switch c := m.Fleet.Find(t.Name); {
	case t.Name == "":
		where = "all cities"
	case t.Home && m.Home != "":
		where = HomeTitle(m, 50)
	case c != nil:
		where = c.DisplayName
	}
	before := m.Status
	doing := "switching to "
	if t.Start {
		doing = "starting "
	}
	t.ID = BeginAction(m, doing+where+" "+m.Look.Glyphs.More)
	m.Switch = CitySwitch{ID: t.ID, Name: where, Starts: t.Start, Before: before}
	return []feed.Effect{t}
}

// AddCity says how to create another city. It is shown if the list of cities contains only one.
const AddCity = "`gcity init DIR` creates another city; this list then shows it."

// NoDirectory returns text that explains how to make other cities available.
func NoDirectory(m *Room) []string {
	if m.Directory && !m.Fleet.Unmaintained {
		return []string{"A supervisor is running now. After you " +
			"close this, " + m.Keys.KeyText("city.switch") + " switches between cities."}
	}
	if !m.Directory {
		return []string{"gcity knows no other city.", "",
			"`gcity init DIR` creates one. `gcity` in the folder of an existing city opens it. " +
				"After either, " + m.Keys.KeyText("city.switch") + " lists it here."}
	}
	register := "`gcity start` in this city's folder hands it over to the supervisor; its agents " +
		"keep running."
	if m.Mode == Hosting {
		register = "This program runs " + CityTitle(m, 50) + ". Quit it with " +
			m.Keys.KeyText("quit") + " and b; then `gcity start` in the city's folder hands the " +
			"city over to the supervisor. Its agents keep running."
	}
	return []string{"No supervisor is running on this machine, so each city runs by itself.", "",
		"A supervisor runs all cities in one process. `gcity start` in a city's folder registers " +
			"the city and starts the supervisor.",
		"", register}
}
