package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/widget"
)

// otherCities is the state of a room about the other cities.
type otherCities struct {
	directory bool        // a list of cities exists
	registrar bool        // cities can be registered and unregistered
	fleet     *fleet.List // nil = not received yet
	fleetRoom bool        // the room shows all cities and belongs to none
	all       bool        // the program was started for all cities
	at        string      // the city's name in the list, "" = not listed
	under     string      // its name when it was opened from the list; "" = not from the list
	folder    string      // folder of the city, without symbolic links; "" = unknown
	// name of the home city, for which the program was started, if the room shows a different city
	home string
	// last snapshot of the home city, and when it was received
	homeSnap *city.Snapshot
	homeSeen time.Time
	homeAt   string          // folder of the home city; "" = started for all cities
	hosts    bool            // home is set, and this program runs the home city's controller
	from     feed.SwitchCity // the room from which the user opened the room of all cities
	going    citySwitch
	arrived  time.Time

	cities     widget.Table[fleet.City, *fleet.City]
	cityFilter widget.Filter
	needAt     int
	needOffset int
	needOf     [2]string // the city and the agent under the cursor
	onNeeds    bool      // the cursor is among the agents
}

// citySwitch is a switch to another city in progress.
type citySwitch struct {
	id     int // ID of its status line; 0 = no switch in progress
	name   string
	before status // the status line before the switch
}

// receiveFleet handles a new list of cities.
func receiveFleet(m *model, f *fleet.List) {
	m.ui++
	tellOfList(m, f)
	m.fleet, m.directory = f, !f.None || m.fleetRoom
	if name := f.Within(m.folder); name != "" && !m.fleetRoom {
		m.at = name
	}
	listCities(m)
	list := m.dialogs.finder()
	if list == nil || list.About != any(citiesList{}) {
		return
	}
	if !m.directory {
		m.dialogs.Close(list)
		switchCity(m)
		return
	}
	refreshCities(m)
}

// tellOfList reports in the status line that the list of cities appeared, failed or recovered. It does not replace
// a pending or failed status.
func tellOfList(m *model, f *fleet.List) {
	old := m.fleet
	if old == nil || m.fleetRoom || m.status.pending || m.status.failed && m.status.while == nil ||
		m.typing() {
		return
	}
	key := m.keys.KeyOf("city.switch")
	switch {
	case old.None && !f.None && f.Gone == "":
		say(m, "a supervisor is running now: "+key+" switches between its cities")
	case old.Gone == "" && f.Gone != "":
		complain(m, "the list of cities cannot be read: "+widget.Plain(f.Gone))
		m.status.while = func(m *model) bool { return m.fleet.Gone != "" }
	case old.Gone != "" && f.Gone == "":
		say(m, "the list of cities is available again")
	}
}

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

// between reports whether a key is ignored because a switch is in progress or has just ended.
func between(m *model, key string) bool {
	if m.going.id != 0 {
		if key == "esc" || key == "ctrl+c" {
			cancelSwitch(m)
		}
		return true
	}
	early := m.now.Sub(m.arrived) < keymap.Guard
	if early && key != "" {
		show(m, "this is "+cityName(m)+"; "+key+" came too early: press it again here", false)
	}
	return early
}

func cancelSwitch(m *model) {
	m.going = citySwitch{}
	say(m, "staying here")
}

func switchFailed(m *model, id int, why string) {
	if m.going.id == id {
		complain(m, "cannot go to "+m.going.name+": "+widget.Plain(why))
		m.going = citySwitch{}
	}
}

// goneFrom resets a room that the user has left, and restores its status line from before the switch.
func goneFrom(m *model) {
	m.status, m.going = m.going.before, citySwitch{}
}

// inherit copies the state of the user and of the terminal from the previous room.
func inherit(m *model, from *model, now time.Time) {
	m.now, m.arrived = now, now
	m.w, m.h, m.mouse = from.w, from.h, cmp.Or(from.mouse, m.mouse)
	m.tried, m.around.ground, m.glanced = from.tried, from.around.ground, from.glanced
	takePerson(m, from.person)
	m.going, m.watched = citySwitch{}, feed.Watch{}
	m.dialogs.CloseIn(keymap.InFinder)
	m.all, m.directory, m.registrar, m.homeAt = from.all, from.directory, from.registrar,
		from.homeAt
	if from.fleet != nil {
		receiveFleet(m, from.fleet)
	}
	if c := m.dialogs.composer(); c != nil {
		c.Fit(m.w, m.h)
	}
	m.forgetDrawn()
	m.ui++
}

// cityMark returns this city's place in the list, and whether other cities need attention, for the header.
func cityMark(m *model, w int) (position, wanting string) {
	if !m.directory || m.fleet == nil {
		return "", ""
	}
	rows := listed(m)
	at, others := 0, len(rows)
	for i := range rows {
		if isHere(m, &rows[i]) {
			at = i + 1
			others--
		}
	}
	if others == 0 {
		return "", ""
	}
	key, n := m.keys.KeyOf("city.switch"), m.fleet.Elsewhere(m.at)
	switch {
	case w < 60 && n > 0:
		return "", key + m.look.Glyphs.Alert + fmt.Sprint(min(n, 99))
	case w < 60:
		return key, ""
	case unlisted(m) != nil || at == 0:
		position = fmt.Sprintf("%d cities %s", max(len(rows), others+1), key)
	case w < 100:
		position = fmt.Sprintf("city %d/%d %s", at, len(rows), key)
	default:
		position = fmt.Sprintf("city %d of %d %s", at, len(rows), key)
	}
	if n > 0 {
		wanting = fmt.Sprintf("%s %d need attention", key, n)
		if w < 100 {
			position = ""
		}
		if n == 1 {
			wanting = key + " 1 needs attention"
		}
	}
	return position, wanting
}

func addCityMark(m *model, l *widget.Line, w int) {
	dot := " " + m.look.Glyphs.Dot + " "
	if w < 60 {
		dot = " "
	}
	position, wanting := cityMark(m, w)
	if position != "" {
		l.Add(themes.Dim, dot+position)
	}
	if wanting != "" {
		l.Add(themes.Warn, dot+wanting)
	}
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

// askHosted switches to the city that this program runs, and asks there how to leave.
func askHosted(m *model) []feed.Effect {
	return leaveFor(m, feed.SwitchCity{Home: true, Name: m.home, Leaving: true})
}

// needFleet returns why the room of all cities is not available.
func needFleet(m *model) string {
	if !m.directory {
		return strings.TrimSuffix(noDirectory(m)[0], ".") + "; " + m.keys.KeyOf("city.switch") +
			" explains more"
	}
	return ""
}
