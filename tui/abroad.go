package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gcity/themes"
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
	home      string // elsewhere than in the city that the room was opened for: the name of that; "" else
	homeAt    string // the folder of that city, "" = the room was opened for all
	hosts     bool   // this program runs it
	from      travel // where the room of all cities was entered from
	going     journey
	arrived   time.Time

	cities     table[sister, *sister]
	cityFilter filter
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
	m.fleet = f
	if name := f.within(m.folder); name != "" && !m.lobby {
		m.at = name
	}
	m.listCities()
	if m.finder != nil && m.finder.cities {
		m.refreshCities()
	}
}

// listCities fills the list of all cities from what was heard last.
func (m *model) listCities() {
	t := &m.cities
	if m.fleet == nil {
		return
	}
	rows := append([]sister(nil), m.fleet.rows...)
	t.rows = arrange(rows, t.rows, (*sister).key, m.ranked, m.handsOn())
	t.fill(func(c *sister) bool { return m.cityFilter.passes(c, m.look.health(c), c.why(m.now)) }, nil)
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

// switchCity is what @ does: it offers the cities, or goes back to the room of all of them where one has come from there.
func (m *model) switchCity() []effect {
	switch {
	case !m.directory:
		m.reader = &reader{title: "Other cities", lines: func(m *model, w int) []string { return wrapAll(m.noDirectory(), w) }}
		return nil
	case m.departure.waits():
		m.complain("cannot switch city: " + m.departureText() + "; " + m.keys.keyOf("view.back") + " stays")
		return nil
	case m.all:
		return m.leaveFor(travel{})
	}
	f := &finder{title: "Cities", none: "No city is called that.", cities: true, verb: "goes there", reasons: true}
	f.all = m.cityItems()
	m.open(f)
	return nil
}

// noDirectory says how other cities come into this room.
func (m *model) noDirectory() []string {
	return []string{"This room knows of no city besides " + m.cityName() + ": no supervisor runs on this machine, or it runs none.", "",
		"`gcity start` in a city's folder registers it and has the supervisor run it; `gcity register DIR` registers one, and `gcity cities` lists them.",
		"A room that is opened while the supervisor runs goes from city to city by this key, and `gcity --all` shows all of them."}
}

// cityItems are the cities to be chosen from.
func (m *model) cityItems() []item {
	var items []item
	if m.fleet == nil {
		return nil
	}
	rows := append([]sister(nil), m.fleet.rows...)
	rows = arrange(rows, nil, (*sister).key, m.ranked, false)
	name := 4
	for i := range rows {
		name = max(name, min(28, width(rows[i].shown)))
	}
	if m.homeAt != "" && m.fleet.within(m.homeAt) == "" {
		name = max(name, min(28, width(cmp.Or(m.home, m.cityName()))))
	}
	if home := m.homeItem(name); home != nil {
		items = append(items, *home)
	}
	for i := range rows {
		c := rows[i]
		h := m.look.health(&c)
		mark := "  "
		if c.info.Name == m.at && m.at != "" {
			mark = m.look.glyph.Done + " "
		}
		items = append(items, item{
			title: mark + fitName(c.shown, name, m.look.glyph.More) + "  " + h.sign + " " + fit(h.word, 9, "") + "  " + c.counts(),
			words: c.shown + " " + plain(c.info.Path), line: c.info.Name, tail: c.why(m.now),
			run: func(m *model) []effect { return m.visitCity(c.info.Name, c.info.Path, "") },
		})
	}
	return append(items, item{title: "  all cities, side by side", words: "fleet", line: "fleet.show",
		run: func(m *model) []effect { return m.leaveFor(travel{}) }})
}

// homeItem is the city that this room was opened for where the list does not have it, nil where it has.
func (m *model) homeItem(name int) *item {
	if m.homeAt == "" || m.fleet.within(m.homeAt) != "" {
		return nil
	}
	shown, mark := m.home, "  "
	if shown == "" {
		shown, mark = m.cityName(), m.look.glyph.Done+" "
	}
	return &item{title: mark + fitName(shown, name, m.look.glyph.More) + "  is in no list; this room was opened for it", line: shown,
		run: func(m *model) []effect {
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
		loop = "loop " + age(c.brief.late)
	}
	return fit(fmt.Sprintf("%d/%d run", c.brief.running, c.brief.agents), 9, "") + " " + loop
}

// refreshCities puts what was heard into the open list; the cursor stays on its city.
func (m *model) refreshCities() {
	f := m.finder
	chosen, pointed, offset := m.underFinder(), f.pointed, f.offset
	f.all = m.cityItems()
	f.search()
	for i := range f.found {
		if f.found[i].line == chosen {
			f.at = i
		}
	}
	f.pointed, f.offset = pointed, offset
}

// visitCity goes to a city of the list.
func (m *model) visitCity(name, path, agent string) []effect {
	if !m.lobby && name == m.at && (m.folder == "" || path == m.folder) && (m.under == "" || m.under == name) {
		m.say("this is " + plain(name))
		return nil
	}
	return m.leaveFor(travel{name: name, path: path, agent: agent})
}

// leaveFor begins a switch. Until it is there no key does anything but giving it up: it would have been meant for the other
// city.
func (m *model) leaveFor(t travel) []effect {
	if m.departure.waits() {
		m.complain("cannot switch city: " + m.departureText())
		return nil
	}
	where := plain(t.name)
	if t.name == "" {
		where = "all cities"
	}
	before := m.status
	t.id = m.begin("going to " + where + " " + m.look.glyph.More)
	m.going = journey{t.id, where, before}
	return []effect{t}
}

// between reports whether a key is not for this room: it is being left, or has just been come to, and what is typed then
// was meant for the one before.
func (m *model) between(key string) bool {
	if m.going.id != 0 {
		if key == "esc" || key == "ctrl+c" {
			m.stayPut()
		}
		return true
	}
	return m.now.Sub(m.arrived) < guard
}

// stayPut gives a switch up.
func (m *model) stayPut() {
	m.going = journey{}
	m.say("staying here")
}

// cannotGo takes in why a switch has come to nothing.
func (m *model) cannotGo(id int, why string) {
	if m.going.id == id {
		m.complain("cannot go to " + m.going.name + ": " + plain(why))
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
	m.going, m.watched, m.finder = journey{}, watch{}, nil
	m.all, m.directory, m.registrar, m.homeAt = from.all, from.directory, from.registrar, from.homeAt
	if from.fleet != nil {
		m.hearFleet(from.fleet)
	}
	if m.composer != nil {
		m.composer.fit(m.w, m.h)
	}
	m.cache = [panels]cached{}
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
	key, n := m.keys.keyOf("city.switch"), m.fleet.elsewhere(m.at)
	switch {
	case w < 60 && n > 0:
		return "", key + m.look.glyph.Alert + fmt.Sprint(min(n, 99))
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
func (m *model) addCityMark(l *line, w int) {
	dot := " " + m.look.glyph.Dot + " "
	if w < 60 {
		dot = " "
	}
	position, wanting := m.cityMark(w)
	if position != "" {
		l.add(themes.Dim, dot+position)
	}
	if wanting != "" {
		l.add(themes.Warn, dot+wanting)
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
			all = append(all, word{c.info.Name, m.look.health(c).word})
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
		return strings.TrimSuffix(m.noDirectory()[0], ".") + "; " + m.keys.keyOf("city.switch") + " says more"
	}
	return ""
}
