package tui

import (
	"cmp"
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/tui/terminal"
)

// tour keeps the rooms of the cities that were looked at, one of which is shown. Of the others nothing is read:
// their streams have ended, and only commands that were given there run to their end. It belongs to the goroutine
// that turns the model.
type tour struct {
	o       Options
	root    *runner
	fresh   terminal.ScreenMaker
	rooms   map[string]*station // by the city's folder; "" is that of all cities
	here    *station
	home    *station // of the city that Run was called for, nil = for all
	lookout *lookout // nil = there is no list of cities
	visits  int

	mu     sync.Mutex
	box    *mailbox // of the room that is shown
	person *Person  // changed preferences, nil = they are as they were
}

// station is the room of one city, while it is shown and for when it is shown again.
type station struct {
	m      *model
	r      *runner
	keep   string // file that keeps how the room was left
	leave  context.CancelFunc
	missed []*delivery // what it has not heard of yet
	visit  int         // the newest, to know who was away longest
}

// maxRooms bounds the rooms that are kept.
const maxRooms = 16

// arrival is what a switch to another city has come to.
type arrival struct {
	travel
	city    city.Control // nil = its room is there already
	memory  memory
	snap    *city.Snapshot // nil = it has not answered yet
	silent  string         // why not
	problem string         // why there is no way, "" = there is
}

// newTour opens the first room: that of the city, or that of all cities.
func newTour(r *runner, o Options, fresh terminal.ScreenMaker) *tour {
	t := &tour{o: o, root: r, fresh: fresh, rooms: map[string]*station{}}
	r.tour = t
	if o.Cities != nil {
		t.lookout = newLookout(r, o.Cities)
		if o.Mode == Hosting {
			t.lookout.own, t.lookout.ownAt = o.City, o.Folder
		}
	}
	m := newModel(o, r.now())
	if o.City == nil {
		m.lobby, m.all = true, true
		t.here = &station{m: m, r: r}
		t.rooms[""] = t.here
	} else {
		m.folder, m.homeAt = o.Folder, o.Folder
		if m.homeAt == "" {
			m.homeAt = "."
		}
		t.here = &station{m: m, r: r, keep: o.Memory}
		t.home = t.here
		t.rooms[m.homeAt] = t.here
	}
	if o.Memory != "" && t.home != nil {
		old, err := readMemory(o.Memory)
		if err != nil {
			r.log.Warn("how the room was left is not known", "error", err)
		}
		recall(m, old)
	}
	t.move(t.here)
	return t
}

// move makes a room the one that is shown, and begins to read its city.
func (t *tour) move(s *station) {
	t.here = s
	t.visits++
	s.visit = t.visits
	t.mu.Lock()
	t.box = s.r.box
	t.mu.Unlock()
	ctx, leave := context.WithCancel(t.root.ctx)
	s.leave = leave
	if !s.m.lobby {
		s.r.listen(ctx, t.fresh, s.m.mode)
	}
	if t.lookout != nil {
		t.lookout.tell(s.r.box)
	}
}

// putPerson tells of changed preferences whichever room is shown.
func (t *tour) putPerson(p Person) {
	t.mu.Lock()
	t.person = &p
	box := t.box
	t.mu.Unlock()
	box.putPerson(p)
}

// greet is how long a city has to say how it is before its room is shown without.
const greet = 300 * time.Millisecond

// notYet is why nothing is heard of a city that is only slow, as far as is known.
const notYet = "it has not answered yet"

// travel finds the way to another room, beside the model, and puts it into the mailbox of the one that is shown.
func (r *runner) travel(e travel) {
	t := r.top().tour
	a := &arrival{travel: e}
	known := t.destination(e)
	r.spawn("travel", func(ctx context.Context) {
		defer func() { r.box.putArrival(a) }()
		var c city.Control
		switch {
		case e.name == "": // all cities
			return
		case known != nil:
			c = known.r.city
		default:
			var err error
			if c, err = r.pin(ctx, t.o.Cities, e.name, e.path); err != nil {
				a.problem = err.Error()
				return
			}
			a.city = c
			if t.o.MemoryOf != nil {
				if a.memory, err = readMemory(t.o.MemoryOf(e.path)); err != nil {
					r.log.Warn("how the room was left is not known", "error", err)
				}
			}
		}
		ctx, cancel := context.WithTimeout(ctx, greet)
		defer cancel()
		var err error
		switch a.snap, err = c.Snapshot(ctx); {
		case ctx.Err() != nil:
			a.snap, a.silent = nil, notYet
		case err != nil:
			a.snap, a.silent = nil, whyGone(err)
		}
	})
}

// cityIn is a city of the list. The one that this program runs is reached without the supervisor, who cannot run it
// as well.
func (t *tour) cityIn(name, path string) (city.Control, error) {
	if t.home != nil && t.home.m.mode == Hosting && path == t.o.Folder {
		return t.o.City, nil
	}
	return t.o.Cities.City(name)
}

// destination is the room that somebody leaves for, nil if it is not there yet.
func (t *tour) destination(e travel) *station {
	if e.home {
		return t.home
	}
	s := t.rooms[e.path]
	if s != nil && s != t.home && !s.m.lobby && s.m.under != e.name {
		return nil // it has another name by now
	}
	return s
}

// arrive shows the room that a switch leads to.
func (r *room) arrive(a *arrival) tea.Cmd {
	t := r.tour
	old := t.here
	if a.problem != "" {
		cannotGo(old.m, a.id, a.problem)
		return nil
	}
	now := r.r.now()
	s := t.destination(a.travel)
	if s == nil {
		s = t.build(a, now)
	}
	old.leave()
	goneFrom(old.m)
	cmd := r.carryOut(keepMemory(old.m, true))
	inherit(s.m, old.m, now)
	if s.m.lobby && !old.m.lobby {
		s.m.from = travel{name: cmp.Or(old.m.under, cityName(old.m)), path: old.m.folder,
			home: old == t.home}
	}
	s.m.home = ""
	if t.home != nil && s != t.home {
		s.m.home, s.m.hosts = cityName(t.home.m), t.home.m.mode == Hosting
	}
	t.mu.Lock()
	person := t.person
	t.mu.Unlock()
	if person != nil {
		takePerson(s.m, *person)
	}
	s.r.box.drop(a.snap)
	if a.snap != nil && s.r.box.behind(a.snap.Seq) {
		s.m.Events.Reset()
	}
	t.move(s)
	r.m, r.r, r.keep = s.m, s.r, s.keep
	r.post(s)
	n := news{snap: a.snap}
	if a.silent != "" {
		n.gone = &a.silent
	} else if a.snap != nil {
		heard := ""
		n.gone = &heard
	}
	todo := append(s.m.update(now, n), welcome(s.m, a, old.m)...)
	t.forget()
	return tea.Sequence(cmd, r.carryOut(todo))
}

// welcome is what is to be seen first in a room: the agent that one came for, and which city this is.
func welcome(m *model, a *arrival, from *model) []effect {
	switch {
	case m.lobby:
		if c := m.fleet.Find(from.at); c != nil {
			m.cities.List.Select(&m.cities, c.Info.Name)
			m.cities.Choose()
		}
		return nil
	case a.leaving:
		todo := askQuit(m)
		if c := m.dialogs.choice(); c != nil && m.mode == Hosting {
			where := cityName(from) + ", where you were"
			if from.lobby {
				where = "What you looked at"
			}
			c.Body = append([]string{"This is about " + cityName(m) +
				", the city that this program runs. " + where + ", goes on as it is.", ""},
				c.Body...)
		}
		return todo
	}
	if !m.status.pending && !m.status.failed { // of something that was begun here before
		say(m, "this is "+cityName(m))
	}
	if a.agent != "" {
		goTo(m, []string{a.agent})
	}
	return nil
}

// build makes the room of a city that was not looked at before, or that of all cities.
func (t *tour) build(a *arrival, now time.Time) *station {
	o := t.o
	if o.Mode == Hosting {
		o.Mode = Joined
	}
	o.Config = nil
	if t.o.ConfigOf != nil && a.name != "" {
		o.Config = t.o.ConfigOf(a.path, a.city)
	}
	r := t.root.beside(a.city, o.Config)
	s := &station{m: newModel(o, now), r: r}
	if a.name == "" {
		s.m.lobby = true
	} else {
		s.m.at, s.m.under, s.m.folder = a.name, a.name, a.path
		if t.o.MemoryOf != nil {
			s.keep = t.o.MemoryOf(a.path)
			recall(s.m, a.memory)
		}
	}
	t.rooms[a.path] = s
	return s
}

// forget gives up the room that was left first where there are too many; those of the city that the tour began in,
// and of all cities, stay.
func (t *tour) forget() {
	for len(t.rooms) > maxRooms {
		oldest := ""
		for path, s := range t.rooms {
			if s != t.here && s != t.home && !s.m.lobby &&
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

// beside is a runner for another city in the same room.
func (r *runner) beside(c city.Control, config ConfigFile) *runner {
	root := r.top()
	return &runner{ctx: root.ctx, root: root, city: c, box: newMailbox(), log: root.log,
		getenv: root.getenv, clock: root.clock, tmux: root.tmux,
		config: config, fail: root.fail}
}

// listen begins to read the city, until ctx ends.
func (r *runner) listen(ctx context.Context, fresh terminal.ScreenMaker, mode Mode) {
	r.viewer = newViewer(r.city, r.box, fresh)
	viewer := r.viewer
	pulse := time.Second
	if mode != Hosting {
		pulse = 2 * time.Second
	}
	r.spawnIn(ctx, "snapshots", r.snapshots)
	r.spawnIn(ctx, "events", r.events)
	r.spawnIn(ctx, "pane", viewer.run)
	r.spawnIn(ctx, "pulse", func(ctx context.Context) { r.pulse(ctx, pulse) })
}

func (b *mailbox) putArrival(a *arrival) {
	b.put(func(n *news) {
		if n.arrival == nil || n.arrival.id < a.id { // one that was given up may be late
			n.arrival = a
		}
	})
}

// drop forgets what a room's mailbox holds that was true when the room was left, and is no longer.
func (b *mailbox) drop(newer *city.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending.person, b.pending.pane, b.pending.gone, b.pending.arrival = nil, nil, nil, nil
	if newer != nil {
		b.pending.snap = nil
	}
}

// behind reports whether more has happened than is shown of the past anyway since the room was left; then it is
// forgotten.
func (b *mailbox) behind(seq uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.newest == 0 || seq >= b.newest && seq-b.newest <= backlog {
		return false
	}
	b.newest, b.pending.events = 0, nil
	return true
}
