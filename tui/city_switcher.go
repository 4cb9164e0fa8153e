package tui

import (
	"cmp"
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

// roomSwitcher holds the rooms of the visited cities and shows one of them. The other rooms have no streams, but
// commands that were started in them still finish. The model's goroutine owns all fields except the fields after mu.
type roomSwitcher struct {
	o     Options
	root  *feed.Runner
	fresh terminal.ScreenMaker
	rooms map[string]*cityRoom // by folder; "" is the room of all cities
	here  *cityRoom
	// room of the city that Run was called for; nil = started for all cities
	home    *cityRoom
	watcher *feed.FleetWatcher // nil = no list of cities
	visits  int

	mu     sync.Mutex
	box    *feed.Mailbox     // mailbox of the visible room
	person *feed.Preferences // changed preferences, nil = unchanged
}

// cityRoom is the room of one city.
type cityRoom struct {
	m     *state.Room
	r     *feed.Runner
	keep  string // file that stores the state of the room
	leave context.CancelFunc
	visit int // counter at the last visit; lowest = least recently visited
}

// maxRooms is the maximum number of rooms kept.
const maxRooms = 16

// newRoomSwitcher opens the first room: the room of the city, or the room of all cities.
func newRoomSwitcher(r *feed.Runner, o Options, fresh terminal.ScreenMaker) *roomSwitcher {
	t := &roomSwitcher{o: o, root: r, fresh: fresh, rooms: map[string]*cityRoom{}}
	r.Cities = feed.Cities{Directory: o.Cities}
	if o.Mode == state.Hosting {
		r.Cities.Own, r.Cities.OwnPath = o.City, o.Folder
	}
	if o.Cities != nil {
		t.watcher = feed.NewFleetWatcher(r)
	}
	m := newModel(o, r.Now())
	if o.City == nil {
		m.FleetRoom, m.All = true, true
		t.here = &cityRoom{m: m, r: r}
		t.rooms[""] = t.here
	} else {
		m.Folder, m.HomeAt = o.Folder, o.Folder
		if m.HomeAt == "" {
			m.HomeAt = "."
		}
		t.here = &cityRoom{m: m, r: r, keep: o.StateFile}
		t.home = t.here
		t.rooms[m.HomeAt] = t.here
	}
	if o.StateFile != "" && t.home != nil {
		old, err := feed.ReadSavedRoom(o.StateFile)
		if err != nil {
			r.Log.Warn("the stored state of the control room cannot be read", "error", err)
		}
		state.Recall(m, old)
		m.Greeting = err == nil && old.Version == 0
	}
	t.move(t.here)
	return t
}

// move shows a room and starts reading its city.
func (t *roomSwitcher) move(s *cityRoom) {
	t.here = s
	t.visits++
	s.visit = t.visits
	t.mu.Lock()
	t.box = s.r.Mailbox
	t.mu.Unlock()
	ctx, leave := context.WithCancel(t.root.Ctx)
	s.leave = leave
	if !s.m.FleetRoom {
		pulse := time.Second
		if s.m.Mode != state.Hosting {
			pulse = 2 * time.Second
		}
		s.r.ReadCity(ctx, t.fresh, pulse)
	}
	if t.watcher != nil {
		t.watcher.SetMailbox(s.r.Mailbox)
	}
}

// putPerson sends changed preferences to the room that is shown.
func (t *roomSwitcher) putPerson(p feed.Preferences) {
	t.mu.Lock()
	t.person = &p
	box := t.box
	t.mu.Unlock()
	box.PutPreferences(p)
}

func (t *roomSwitcher) travel(r *feed.Runner, e feed.SwitchCity) {
	var known city.Control
	if s := t.destination(e); s != nil {
		known = s.r.City
	}
	keep := ""
	if t.o.StateFileOf != nil {
		keep = t.o.StateFileOf(e.Path)
	}
	r.OpenCity(e, known, keep)
}

// destination returns the existing room that a switch leads to, or nil.
func (t *roomSwitcher) destination(e feed.SwitchCity) *cityRoom {
	if e.Home {
		return t.home
	}
	s := t.rooms[e.Path]
	if s != nil && s != t.home && !s.m.FleetRoom && s.m.Under != e.Name {
		return nil // the city was renamed
	}
	return s
}

// arrive shows the room that a switch leads to.
func (r *room) arrive(a *feed.OpenedCity) tea.Cmd {
	t := r.switcher
	old := t.here
	if a.Problem != "" {
		switchFailed(old.m, a.ID, a.Problem)
		return nil
	}
	now := r.r.Now()
	s := t.destination(a.SwitchCity)
	if s == nil {
		s = t.build(a, now)
	}
	old.leave()
	goneFrom(old.m)
	cmd := r.carryOut(state.KeepMemory(old.m, true))
	inherit(s.m, old.m, now)
	if s.m.FleetRoom && !old.m.FleetRoom {
		s.m.From = feed.SwitchCity{Name: cmp.Or(old.m.Under, state.CityName(old.m)),
			Path: old.m.Folder,
			Home: old == t.home}
	}
	s.m.Home = ""
	if t.home != nil && s != t.home {
		s.m.Home, s.m.Hosts = state.CityName(t.home.m), t.home.m.Mode == state.Hosting
		s.m.HomeSnap, s.m.HomeSeen = t.home.m.Snap, t.home.m.Now
		state.ListCities(s.m)
	}
	t.mu.Lock()
	person := t.person
	t.mu.Unlock()
	if person != nil {
		applyPreferences(s.m, *person)
	}
	s.r.Mailbox.DropOutdated(a.Snap)
	if a.Snap != nil && s.r.Mailbox.Behind(a.Snap.Seq) {
		s.m.Events.Reset()
	}
	t.move(s)
	r.m, r.r, r.keep = s.m, s.r, s.keep
	r.post(s.r)
	n := feed.News{Snap: a.Snap}
	if a.Unresponsive != "" {
		n.Unreachable = &a.Unresponsive
	} else if a.Snap != nil {
		heard := ""
		n.Unreachable = &heard
	}
	todo := append(handle(s.m, now, n), welcome(s.m, a, old.m)...)
	t.forget()
	return tea.Sequence(cmd, r.carryOut(todo))
}

// welcome selects the agent that the switch was for, and shows which city this is.
func welcome(m *state.Room, a *feed.OpenedCity, from *state.Room) []feed.Effect {
	switch {
	case m.FleetRoom:
		if c := m.Fleet.Find(from.At); c != nil {
			m.Cities.List.Select(&m.Cities, c.Info.Name)
			m.Cities.SelectCurrent()
		}
		return nil
	case a.AskLeave:
		todo := actions.AskQuit(m)
		if c := m.Dialogs.Choice(); c != nil && m.Mode == state.Hosting {
			where := state.CityName(from) + ", which was shown before,"
			if from.FleetRoom {
				where = "The city shown before"
			}
			c.Body = append([]string{"This concerns " + state.CityName(m) +
				", the city that this program runs. " + where + " keeps running.", ""},
				c.Body...)
		}
		return todo
	}
	if !m.Status.Pending && !m.Status.Failed { // the status line reports no earlier action
		state.Say(m, "this is "+state.CityName(m))
	}
	if a.Agent != "" {
		actions.GoTo(m, []string{a.Agent})
	}
	return nil
}

// build creates the room of a city that was not visited before, or the room of all cities.
func (t *roomSwitcher) build(a *feed.OpenedCity, now time.Time) *cityRoom {
	o := t.o
	if o.Mode == state.Hosting {
		o.Mode = state.Joined
	}
	o.Config = nil
	if t.o.ConfigOf != nil && a.Name != "" {
		o.Config = t.o.ConfigOf(a.Path, a.City)
	}
	r := t.root.ForCity(a.City, o.Config)
	s := &cityRoom{m: newModel(o, now), r: r}
	if a.Name == "" {
		s.m.FleetRoom = true
	} else {
		s.m.At, s.m.Under, s.m.Folder = a.Name, a.Name, a.Path
		if t.o.StateFileOf != nil {
			s.keep = t.o.StateFileOf(a.Path)
			state.Recall(s.m, a.Saved)
		}
	}
	t.rooms[a.Path] = s
	return s
}

// forget drops the least recently visited rooms if there are more than maxRooms. It keeps the current room, the first
// room, and the room of all cities.
func (t *roomSwitcher) forget() {
	for len(t.rooms) > maxRooms {
		oldest := ""
		for path, s := range t.rooms {
			if s != t.here && s != t.home && !s.m.FleetRoom &&
				(oldest == "" || s.visit < t.rooms[oldest].visit) {
				oldest = path
			}
		}
		if oldest == "" {
			return
		}
		delete(t.rooms, oldest)
	}
}
