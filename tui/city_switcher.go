package tui

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

// roomSwitcher keeps one control room per visited city. Hidden rooms receive no data, but their
// commands still finish. The model's goroutine owns all fields except those after mu.
type roomSwitcher struct {
	options   Options
	root      *feed.Runner
	newScreen terminal.ScreenMaker
	rooms     map[string]*cityRoom // by the city's folder; "" = the all-cities room
	current   *cityRoom
	// nil = Run was called for all cities
	home    *cityRoom
	watcher *feed.FleetWatcher // nil = no list of cities
	visits  int

	mu          sync.Mutex
	mailbox     *feed.Mailbox
	preferences *feed.Preferences // nil = they have not changed
}

type cityRoom struct {
	m           *state.Room
	r           *feed.Runner
	stateFile   string
	stopReading context.CancelFunc
	lastVisit   int // value of the switcher's visits counter at the latest visit
}

const maxRooms = 16

func newRoomSwitcher(r *feed.Runner, o Options, fresh terminal.ScreenMaker) *roomSwitcher {
	t := &roomSwitcher{options: o, root: r, newScreen: fresh, rooms: map[string]*cityRoom{}}
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
		t.current = &cityRoom{m: m, r: r}
		t.rooms[""] = t.current
	} else {
		m.Folder, m.HomeFolder = o.Folder, o.Folder
		if m.HomeFolder == "" {
			m.HomeFolder = "."
		}
		t.current = &cityRoom{m: m, r: r, stateFile: o.StateFile}
		t.home = t.current
		t.rooms[m.HomeFolder] = t.current
	}
	if o.StateFile != "" && t.home != nil {
		old, err := feed.ReadSavedRoom(o.StateFile)
		if err != nil {
			r.Log.Warn("cannot read the control room's stored state", "error", err)
		}
		state.RestoreRoom(m, old)
		m.ShowHint = err == nil && old.Version == 0
	}
	t.show(t.current)
	return t
}

func (t *roomSwitcher) show(s *cityRoom) {
	t.current = s
	t.visits++
	s.lastVisit = t.visits
	t.mu.Lock()
	t.mailbox = s.r.Mailbox
	t.mu.Unlock()
	ctx, leave := context.WithCancel(t.root.Ctx)
	s.stopReading = leave
	if !s.m.FleetRoom {
		pulse := time.Second
		if s.m.Mode != state.Hosting {
			pulse = 2 * time.Second
		}
		s.r.ReadCity(ctx, t.newScreen, pulse)
	}
	if t.watcher != nil {
		t.watcher.SetMailbox(s.r.Mailbox)
	}
}

func (t *roomSwitcher) putPreferences(p feed.Preferences) {
	t.mu.Lock()
	t.preferences = &p
	box := t.mailbox
	t.mu.Unlock()
	box.PutPreferences(p)
}

func (t *roomSwitcher) openCity(r *feed.Runner, e feed.SwitchCity) {
	var known city.Control
	if s := t.existingRoom(e); s != nil {
		known = s.r.City
	}
	keep := ""
	if t.options.StateFileOf != nil {
		keep = t.options.StateFileOf(e.Path)
	}
	r.OpenCity(e, known, keep)
}

func (t *roomSwitcher) existingRoom(e feed.SwitchCity) *cityRoom {
	if e.Home {
		return t.home
	}
	s := t.rooms[e.Path]
	if s != nil && s != t.home && !s.m.FleetRoom && s.m.OpenedAs != e.Name {
		return nil // the city was renamed
	}
	return s
}

func (r *room) showOpenedCity(a *feed.OpenedCity) tea.Cmd {
	t := r.switcher
	old := t.current
	if a.Problem != "" {
		switchFailed(old.m, a.ID, a.Problem)
		return nil
	}
	now := r.r.Now()
	s := t.existingRoom(a.SwitchCity)
	if s == nil {
		s = t.build(a, now)
	}
	old.stopReading()
	waiting := old.m.Switch.Keys
	resetLeftRoom(old.m)
	cmd := r.runEffects(state.SaveRoom(old.m, true))
	copyUserState(s.m, old.m, now)
	if s.m.FleetRoom && !old.m.FleetRoom {
		s.m.OpenedFrom = t.switchTo(old)
	}
	s.m.Home = ""
	if t.home != nil && s != t.home {
		s.m.Home, s.m.HostsHome = state.CityName(t.home.m), t.home.m.Mode == state.Hosting
		s.m.HomeSnap, s.m.HomeSeen = t.home.m.Snap, t.home.m.Now
		state.ListCities(s.m)
	}
	t.mu.Lock()
	person := t.preferences
	t.mu.Unlock()
	if person != nil {
		applyPreferences(s.m, *person)
	}
	s.r.Mailbox.DropOutdated(a.Snap)
	if a.Snap != nil && s.r.Mailbox.Behind(a.Snap.Seq) {
		s.m.Events.Reset()
	}
	t.show(s)
	r.m, r.r, r.stateFile = s.m, s.r, s.stateFile
	r.startDelivery(s.r)
	n := feed.News{Snap: a.Snap}
	if a.Unresponsive != "" {
		n.Unreachable = &a.Unresponsive
	} else if a.Snap != nil {
		heard := ""
		n.Unreachable = &heard
	}
	todo := append(handle(s.m, now, n), t.selectOnArrival(s.m, a, old)...)
	for _, k := range waiting {
		todo = append(todo, handle(s.m, now, k)...) // only keys that move the cursor take effect
	}
	t.dropOldRooms()
	return tea.Sequence(cmd, r.runEffects(todo))
}

func (t *roomSwitcher) switchTo(s *cityRoom) feed.SwitchCity {
	if s.m.FleetRoom {
		return feed.SwitchCity{}
	}
	return feed.SwitchCity{Name: cmp.Or(s.m.OpenedAs, state.CityName(s.m)), Path: s.m.Folder,
		Home: s == t.home}
}

func (t *roomSwitcher) selectOnArrival(m *state.Room, a *feed.OpenedCity,
	old *cityRoom) []feed.Effect {
	from := old.m
	switch {
	case m.FleetRoom:
		if c := m.Fleet.Find(from.At); c != nil {
			m.Cities.List.Select(&m.Cities, c.Info.Name)
			m.Cities.SelectCurrent()
		}
		return nil
	case a.AskLeave:
		if m.Mode != state.Hosting {
			return actions.AskQuit(m)
		}
		back := t.switchTo(old)
		stay := func(m *state.Room) []feed.Effect { return state.StartSwitch(m, back) }
		return actions.AskLeave(m, stay,
			actions.OnlyHosts(state.CityTitle(m, 50), from), "")
	}
	if !m.Status.Pending && !m.Status.Failed { // do not replace the status of an earlier action
		done := "switched to "
		if m == from {
			done = "started "
		}
		state.ShowSuccess(m, done+state.CityTitle(m, 50))
	}
	if a.Agent != "" {
		actions.GoTo(m, []string{a.Agent})
	}
	return nil
}

func (t *roomSwitcher) build(a *feed.OpenedCity, now time.Time) *cityRoom {
	o := t.options
	if o.Mode == state.Hosting {
		o.Mode = state.Joined
	}
	o.Config = nil
	if t.options.ConfigOf != nil && a.Name != "" {
		o.Config = t.options.ConfigOf(a.Path, a.City)
	}
	r := t.root.ForCity(a.City, o.Config)
	r.Log = t.options.cityLog(a.Path)
	s := &cityRoom{m: newModel(o, now), r: r}
	if a.Name == "" {
		s.m.FleetRoom = true
	} else {
		s.m.At, s.m.OpenedAs, s.m.Folder = a.Name, a.Name, a.Path
		if t.options.StateFileOf != nil {
			s.stateFile = t.options.StateFileOf(a.Path)
			state.RestoreRoom(s.m, a.Saved)
		}
	}
	t.rooms[a.Path] = s
	return s
}

// cityLog returns the logger for the room of a city. One log serves several rooms; the log of a city that this process
// runs is that city's own.
func (o *Options) cityLog(folder string) *slog.Logger {
	if folder == "" || o.Mode == state.Hosting && folder == o.Folder {
		return o.Logger
	}
	return o.Logger.With("city", folder)
}

func (t *roomSwitcher) dropOldRooms() {
	for len(t.rooms) > maxRooms {
		oldest := ""
		for path, s := range t.rooms {
			if s != t.current && s != t.home && !s.m.FleetRoom &&
				(oldest == "" || s.lastVisit < t.rooms[oldest].lastVisit) {
				oldest = path
			}
		}
		if oldest == "" {
			return
		}
		delete(t.rooms, oldest)
	}
}
