package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// abroad is what a room knows of other cities than its own.
type abroad struct {
	directory bool   // there is a list of cities
	registrar bool   // it can be told of cities
	fleet     *fleet // nil = nothing heard of it yet
	lobby     bool   // the room shows all cities, and is in none
	all       bool   // the room began there
	at        string // the city's name in the list, "" = it is in none
	under     string // the name that it was gone to by, "" = it is not reached by the list
	folder    string // of the city, no links in it; "" = not known
	// elsewhere than in the city that the room was opened for: the name of that; "" else
	home    string
	homeAt  string // the folder of that city, "" = the room was opened for all
	hosts   bool   // this program runs it
	from    travel // where the room of all cities was entered from
	going   journey
	arrived time.Time

	cities     widget.Table[sister, *sister]
	cityFilter widget.Filter
	needAt     int
	needOffset int
	needOf     [2]string // the city and the agent under the cursor
	onNeeds    bool      // the cursor is among the agents
}

// journey is a switch to another city that is under way.
type journey struct {
	id     int // of the status line; 0 = there is none
	name   string
	before status // what the line said before
}

// travel leaves for another city's room, for that of all cities, or for that of the city that this program runs.
type travel struct {
	id         int
	name, path string // of the city; "" = all cities
	home       bool   // the city that the room was opened for
	agent      string // to be selected there, "" = whoever is
	leaving    bool   // to ask there how to leave
}

func (travel) effect() {}

// hearFleet takes a new list of the cities in.
func (m *model) hearFleet(f *fleet) {
	m.ui++
	m.tellOfList(f)
	m.fleet, m.directory = f, !f.none || m.lobby
	if name := f.within(m.folder); name != "" && !m.lobby {
		m.at = name
	}
	m.listCities()
	list := m.dialogs.finder()
	if list == nil || list.About != any(citiesList{}) {
		return
	}
	if !m.directory {
		m.dialogs.Close(list)
		m.switchCity()
		return
	}
	m.refreshCities()
}

// tellOfList says that the list of the cities has come, has gone or is back. What waits for an outcome, and what
// has failed, is not talked over.
func (m *model) tellOfList(f *fleet) {
	old := m.fleet
	if old == nil || m.lobby || m.status.pending || m.status.failed && m.status.while == nil ||
		m.typing() {
		return
	}
	key := m.keys.KeyOf("city.switch")
	switch {
	case old.none && !f.none && f.gone == "":
		m.say("a supervisor runs now: " + key + " goes to its cities")
	case old.gone == "" && f.gone != "":
		m.complain("the list of the cities cannot be read: " + widget.Plain(f.gone))
		m.status.while = func(m *model) bool { return m.fleet.gone != "" }
	case old.gone != "" && f.gone == "":
		m.say("the list of the cities is read again")
	}
}

// listCities fills the list of all cities from what was heard last.
func (m *model) listCities() {
	t := &m.cities
	if m.fleet == nil {
		return
	}
	rows := append([]sister(nil), m.fleet.rows...)
	t.Rows = widget.Arrange(rows, t.Rows, (*sister).Key, m.ranked, m.handsOn())
	t.Fill(func(c *sister) bool {
		return c.passes(&m.cityFilter, cityHealth(&m.look, c), c.why(m.now))
	}, nil)
	all := m.allNeeds()
	for i, n := range all {
		if n.city.info.Name == m.needOf[0] && n.need.agent == m.needOf[1] {
			m.needAt = i
		}
	}
	m.moveNeeds(0)
}

func (m *model) moveNeeds(n int) {
	all := m.allNeeds()
	m.needAt = max(0, min(m.needAt+n, len(all)-1))
	m.needOf = [2]string{}
	if len(all) > 0 {
		m.needOf = [2]string{all[m.needAt].city.info.Name, all[m.needAt].need.agent}
	}
	if len(all) == 0 {
		m.onNeeds = false
	}
}

// visitCity goes to a city of the list.
func (m *model) visitCity(name, path, agent string) []effect {
	if !m.lobby && name == m.at && (m.folder == "" || path == m.folder) &&
		(m.under == "" || m.under == name) {
		m.say("this is " + widget.Plain(name))
		return nil
	}
	return m.leaveFor(travel{name: name, path: path, agent: agent})
}

// leaveFor begins a switch. Until it is there no key does anything but giving it up: it would have been meant for
// the other city.
func (m *model) leaveFor(t travel) []effect {
	if m.departure.waits() {
		m.complain("cannot switch city: " + m.departureText())
		return nil
	}
	where := widget.Plain(t.name)
	if t.name == "" {
		where = "all cities"
	}
	before := m.status
	t.id = m.begin("going to " + where + " " + m.look.Glyphs.More)
	m.going = journey{t.id, where, before}
	return []effect{t}
}

// between reports whether a key is not for this room: it is being left, or has just been come to, and what is typed
// then was meant for the one before.
func (m *model) between(key string) bool {
	if m.going.id != 0 {
		if key == "esc" || key == "ctrl+c" {
			m.stayPut()
		}
		return true
	}
	return m.now.Sub(m.arrived) < keymap.Guard
}

// stayPut gives a switch up.
func (m *model) stayPut() {
	m.going = journey{}
	m.say("staying here")
}

// cannotGo takes in why a switch has come to nothing.
func (m *model) cannotGo(id int, why string) {
	if m.going.id == id {
		m.complain("cannot go to " + m.going.name + ": " + widget.Plain(why))
		m.going = journey{}
	}
}

// goneFrom leaves the room: what waits there for an outcome waits on.
func (m *model) goneFrom() {
	m.status, m.going = m.going.before, journey{}
}

// inherit takes over from the room that was shown before what belongs to the person and the terminal.
func (m *model) inherit(from *model, now time.Time) {
	m.now, m.arrived = now, now
	m.w, m.h, m.mouse = from.w, from.h, from.mouse
	m.tried, m.around.ground, m.glanced = from.tried, from.around.ground, from.glanced
	m.takePerson(from.person)
	m.going, m.watched = journey{}, watch{}
	m.dialogs.CloseIn(keymap.InFinder)
	m.all, m.directory, m.registrar, m.homeAt = from.all, from.directory, from.registrar,
		from.homeAt
	if from.fleet != nil {
		m.hearFleet(from.fleet)
	}
	if c := m.dialogs.composer(); c != nil {
		c.Fit(m.w, m.h)
	}
	m.forgetDrawn()
	m.ui++
}

// cityMark says in the header which of the cities this is, and that others wait for a person.
func (m *model) cityMark(w int) (position, wanting string) {
	if !m.directory || m.fleet == nil {
		return "", ""
	}
	at, others := 0, len(m.fleet.rows)
	for i := range m.fleet.rows {
		if m.fleet.rows[i].info.Name == m.at {
			at = i + 1
			others--
		}
	}
	if others == 0 {
		return "", ""
	}
	key, n := m.keys.KeyOf("city.switch"), m.fleet.elsewhere(m.at)
	switch {
	case w < 60 && n > 0:
		return "", key + m.look.Glyphs.Alert + fmt.Sprint(min(n, 99))
	case w < 60:
		return key, ""
	case at == 0:
		position = fmt.Sprintf("1+%d %s", others, key)
	case w < 100:
		position = fmt.Sprintf("%d/%d %s", at, len(m.fleet.rows), key)
	default:
		position = fmt.Sprintf("%d of %d %s", at, len(m.fleet.rows), key)
	}
	if n > 0 {
		wanting = fmt.Sprintf("%s %d need you", key, n)
		if w < 100 {
			position = ""
		}
		if n == 1 {
			wanting = key + " 1 needs you"
		}
	}
	return position, wanting
}

// addCityMark puts it into the header.
func (m *model) addCityMark(l *widget.Line, w int) {
	dot := " " + m.look.Glyphs.Dot + " "
	if w < 60 {
		dot = " "
	}
	position, wanting := m.cityMark(w)
	if position != "" {
		l.Add(themes.Dim, dot+position)
	}
	if wanting != "" {
		l.Add(themes.Warn, dot+wanting)
	}
}

// cityNames are the other cities, for the palette.
func (m *model) cityNames([]string) []word {
	var all []word
	if m.fleet == nil {
		return nil
	}
	for i := range m.fleet.rows {
		if c := &m.fleet.rows[i]; c.info.Name != m.at {
			all = append(all, word{c.info.Name, cityHealth(&m.look, c).word})
		}
	}
	return all
}

func (m *model) cityLine(args []string) ([]effect, string) {
	if !m.directory {
		return nil, m.noDirectory()[0]
	}
	c := m.fleet.find(args[0])
	if c == nil {
		return nil, unknown("city", args[0], m.cityNames(nil))
	}
	return m.visitCity(c.info.Name, c.info.Path, ""), ""
}

// askHosted is quitting in a room of another city, while this program runs one.
func (m *model) askHosted() []effect {
	return m.leaveFor(travel{home: true, name: m.home, leaving: true})
}

// needFleet is why there is no room of all cities.
func needFleet(m *model) string {
	if !m.directory {
		return strings.TrimSuffix(m.noDirectory()[0], ".") + "; " + m.keys.KeyOf("city.switch") +
			" says more"
	}
	return ""
}
