package tui

import (
	"cmp"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/widget"
	"time"
)

// receiveFleet handles a new list of cities.
func receiveFleet(m *model, f *fleet.List) {
	m.UI++
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
	m.UI++
}
