package tui

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/state"
)

// unsupervisedFleet returns a list that was made from the registry.
func unsupervisedFleet() *fleet.List {
	f := demoFleet(epoch)
	f.Rows = append(f.Rows[:1:1], f.Rows[2], f.Rows[7])
	f.Unmaintained = true
	f.Rows[1].Summary.Mode, f.Rows[1].Summary.PID, f.Rows[2].Responded = "headless", 7, false
	f.Rows = append(f.Rows, fleet.City{DisplayName: "wharf",
		Info: city.Info{Name: "wharf", Path: "/srv/wharf", Status: city.CityStopped, LeftoverSessions: 2}})
	return f
}

// @ and the details of a city say which process runs it.
func TestTheListOfCitiesSaysWhatRunsThem(t *testing.T) {
	for mode, others := range map[state.Mode]int{state.Hosting: 1, state.Joined: 2} {
		s := among(t, 80, 24)
		s.m.Mode = mode
		f := unsupervisedFleet()
		f.Rows[0].Summary = fleet.Summary{Mode: "console", PID: 7}
		f.Rows[1].Summary.Mode, f.Rows[1].Summary.PID = "console", 8
		s.hear(feed.News{Fleet: f})
		s.press("@")
		for text, want := range map[string]int{"this control room": 2 - others, "another control room": others} {
			if n := strings.Count(s.text(), text); n != want {
				t.Errorf("%v: %q is shown %d times, want %d", mode, text, n, want)
			}
		}
	}
	s := lobby(t, 120, 40, Options{})
	f := unsupervisedFleet()
	s.hear(feed.News{Fleet: f})
	s.sail("harbour")
	s.shows("run by", "background (gcity --headless, pid 7)")
}

// Without a supervisor, @ lists the registered cities and says how each of them runs.
func TestCitiesWithoutASupervisor(t *testing.T) {
	s := among(t, 120, 40)
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("@")
	s.shows("Cities: no supervisor is running", "harbour", "background", "tower", "not running",
		"no controller; agents still running: 2", "how to start a supervisor")
	s.press("h", "a", "r", "enter")
	if e, _ := effectOf[feed.SwitchCity](s); e.Name != "harbour" || e.Start {
		t.Errorf("%+v", s.out)
	}
	s.press("esc", "@", "t", "o", "w")
	s.shows("enter asks whether to start it")
	s.press("enter")
	s.shows("Start tower?", "The city in /srv/tower has no controller")
	s.hides("A supervisor", "gcity supervisor start")
	s.press("n")
	if _, ok := effectOf[feed.SwitchCity](s); ok {
		t.Error("a refused start switches")
	}
	s.line("city tower", "enter", "y")
	if e, _ := effectOf[feed.SwitchCity](s); e.Name != "tower" || e.Path != "/srv/tower" || !e.Start {
		t.Errorf("%+v", s.out)
	}
	s.shows("starting tower")
	s.press("esc", "@", "h", "o", "w", "enter")
	s.shows("so each city runs by itself", "`gcity start` in a city")
	s.press("esc")
	s.hear(feed.News{Fleet: demoFleet(epoch)})
	s.shows("a supervisor is running now")
	s.press("@")
	s.hides("how to start a supervisor", "no supervisor is running")
}

// The cursor of @ starts on the first other city, also if it is stopped or has the name of this city. An update of the
// list does not move it. Other entries come after the cities.
func TestTheListOfCitiesStartsOnAnotherCity(t *testing.T) {
	for _, status := range []city.Condition{city.CityRunning, city.CityStopped} {
		s := among(t, 120, 40)
		twins := func() *fleet.List {
			f := unsupervisedFleet()
			other := fleet.City{Info: f.Rows[0].Info, Summary: fleet.Summary{Name: "bright-lights"}}
			other.Info.Name, other.Info.Path = "twin", "/srv/twin"
			other.Info.Running, other.Info.Status = status == city.CityRunning, status
			f.Rows = []fleet.City{f.Rows[0], other}
			fleet.Distinguish(f.Rows)
			return f
		}
		s.hear(feed.News{Fleet: twins()})
		s.press("@")
		s.shows(">   bright-lights (twin)", "of 4")
		s.hear(feed.News{Fleet: twins()})
		s.shows(">   bright-lights (twin)")
		s.typeIn("bright")
		s.shows("bright-lights  ", "bright-lights (twin)", "1 of 2")
	}
	s := among(t, 120, 40)
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("@")
	s.typeIn("ar") // "harbour", "wharf", "how to start a supervisor"
	s.shows("1 of 3")
	s.hides("tower", "bright-lights  ")
	s.press("down", "down", "enter")
	s.shows("Other cities")
	s.press("esc", "@")
	s.typeIn("srv")
	s.shows("No city matches.")
}

// Below the list, the text of the selected row does not look like a row, and is omitted if the row shows it.
func TestTheDetailOfACityIsNotARow(t *testing.T) {
	s := among(t, 80, 24)
	s.hear(feed.News{Fleet: demoFleet(epoch)})
	s.press("@")
	s.typeIn("delta")
	s.shows("      delta: retries in 8s: its loop panicked")
	if n := strings.Count(s.text(), "crashed"); n > 2 {
		t.Errorf("the row is shown again:\n%s", s.text())
	}
	s.press("ctrl+u")
	s.typeIn("harbour")
	s.hides("      harbour")
}

// Without a supervisor, no city can be registered, so the room does not ask for a folder.
func TestRegisterWithoutASupervisor(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("a")
	s.hides("register the city in the folder")
	s.shows("no supervisor is running; run `gcity supervisor start`")
}

// With a supervisor, stopped cities can be started, but not unregistered.
func TestStoppedCitiesWithASupervisor(t *testing.T) {
	s := among(t, 120, 40)
	s.press("@", "t", "o", "w")
	s.shows("stopped", "enter asks whether to start it")
	s.press("enter")
	s.shows("Start tower?", "The city in /srv/tower is not registered", "will register it and run its agents")
	s.press("y")
	if e, _ := effectOf[feed.SwitchCity](s); e.Name != "tower" || e.Path != "/srv/tower" || !e.Start {
		t.Errorf("%+v", s.out)
	}

	// a question about a city closes if its name becomes that of another city
	s = among(t, 120, 40)
	s.press("@", "t", "o", "w", "enter")
	s.shows("Start tower?")
	moved := demoFleet(epoch)
	for i := range moved.Rows {
		if moved.Rows[i].Info.Name == "tower" {
			moved.Rows[i].Info.Path = "/srv/other"
		}
	}
	s.hear(feed.News{Fleet: moved})
	s.hides("Start tower?")
	s.shows("nothing was done: tower is now the name of another city")

	s = lobby(t, 120, 40, Options{})
	s.press("/", "t", "o", "w", "enter", "ctrl+k")
	s.shows("tower is stopped and is not registered; enter starts it")
}

// If the city of the room has stopped, @ starts it.
func TestARoomStartsItsStoppedCity(t *testing.T) {
	for _, alone := range []bool{true, false} {
		s := among(t, 80, 24)
		why, f := feed.Exited, unsupervisedFleet()
		if alone {
			f.Rows = f.Rows[:1]
		}
		s.change(func(n *city.Snapshot) { n.ShutDown = true })
		s.hear(feed.News{Unreachable: &why, Fleet: f}) // the list still says that the city is running
		s.shows("the city stopped 0s ago; @ starts it; ")
		s.press("r")
		s.shows("the city stopped 0s ago; @ starts it  esc")
		s.press("8")
		s.m.Work.Problem = "no response on controller.sock"
		s.m.ForgetDrawn()
		s.shows("Beads cannot be read: the city has no controller; @ starts it.")
		s.press("@")
		if !alone {
			s.shows("> ◆ bright-lights", "enter asks whether to start it")
			s.press("enter")
		}
		s.shows("Start bright-lights?", "yes, start it")
		s.hides("go there")
		s.press("y")
		if e, _ := effectOf[feed.SwitchCity](s); e.Name != "bright-lights" || !e.Start {
			t.Errorf("%+v", s.out)
		}
	}
}

// In a program for all cities, @ shows the all-cities room, so no text says that @ starts the city.
func TestAllCitiesPromiseNoStart(t *testing.T) {
	s := among(t, 120, 24)
	s.m.All, s.m.OpenedAs = true, "bright-lights"
	why := feed.Exited
	s.change(func(n *city.Snapshot) { n.ShutDown = true })
	s.hear(feed.News{Unreachable: &why, Fleet: unsupervisedFleet()})
	s.shows("the city stopped 0s ago; run `gcity` in its folder; ")
	s.press("r")
	s.press("8")
	s.m.Work.Problem = "no response on controller.sock"
	s.m.ForgetDrawn()
	s.shows("Beads cannot be read: the city has no controller; run `gcity` in its folder.")
	s.hides("@ starts it")
	s.press("@")
	s.hides("Start bright-lights?")
	if e, ok := effectOf[feed.SwitchCity](s); !ok || e.Name != "" || e.Start {
		t.Errorf("%+v", s.out)
	}
	s.press("esc")
	alone := unsupervisedFleet()
	alone.Rows = alone.Rows[:1]
	s.hear(feed.News{Fleet: alone})
	s.shows("; @ starts it; this is its last known state")
	s.press("@")
	s.shows("Start bright-lights?")
}

// The list of cities closes when the other cities disappear. This neither starts a stopped city nor asks to start it,
// because no key was pressed.
func TestAClosingListOfCitiesStartsNothing(t *testing.T) {
	for _, confirm := range []state.Confirm{0, state.ConfirmNever} {
		s := among(t, 120, 40)
		s.m.Confirm = confirm
		f := demoFleet(epoch)
		f.Rows = f.Rows[:1]
		s.hear(feed.News{Fleet: f}) // a supervisor runs only the city of the room
		s.press("@")
		s.shows("all cities in one list")
		why, left := feed.Exited, *f
		left.Unmaintained = true
		s.change(func(n *city.Snapshot) { n.ShutDown = true })
		s.hear(feed.News{Unreachable: &why, Fleet: &left})
		if e, ok := effectOf[feed.SwitchCity](s); ok {
			t.Errorf("confirm %v: %+v without a key", confirm, e)
		}
		s.hides("Start bright-lights?", "all cities in one list")
		s.shows("gcity knows no other city")
		s.press("esc", "@")
		if e, ok := effectOf[feed.SwitchCity](s); ok != (confirm == state.ConfirmNever) || ok && !e.Start {
			t.Errorf("confirm %v: @ wants %+v", confirm, e)
		}
	}
}

// A read-only room cannot start a city.
func TestCitiesThatCannotBeStartedHere(t *testing.T) {
	s := among(t, 120, 40)
	s.m.Mode = state.ReadOnly
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("@", "t", "o", "w", "enter")
	s.hides("Start tower?")
	s = among(t, 120, 40)
	s.hear(feed.News{Fleet: &fleet.List{Unmaintained: true}})
	s.press("@")
	s.shows("gcity knows no other city", "`gcity init DIR` creates one", "After either, @ lists it here")
}

// The text about other cities becomes the list as soon as another city is known. The first key, which may still be
// meant for the text, does not leave the room.
func TestTheTextAboutOtherCitiesBecomesTheList(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := among(t, size[0], size[1])
		alone := unsupervisedFleet()
		alone.Rows = alone.Rows[:1]
		s.m.Folder = alone.Rows[0].Info.Path
		s.hear(feed.News{Fleet: alone})
		s.press("@")
		s.shows("Other cities")
		s.hides("harbour")
		s.wait(time.Second)
		s.hear(feed.News{Fleet: unsupervisedFleet()})
		s.hides("Other cities")
		s.shows("harbour", "how to start a supervisor")
		s.press("enter")
		if e, ok := effectOf[feed.SwitchCity](s); ok {
			t.Errorf("%v: the first key switches to %s", size, e.Name)
		}
		s.press("@")
		s.typeIn("supervisor")
		s.press("enter")
		s.shows("Other cities")
		s.hear(feed.News{Fleet: unsupervisedFleet()}) // no news about cities
		s.shows("Other cities")
	}
}

// A list that appears before the text could be read starts on the other city, like every list of cities.
func TestAListThatAppearsAtOnceStartsOnAnotherCity(t *testing.T) {
	s := among(t, 80, 24)
	alone := unsupervisedFleet()
	alone.Rows = alone.Rows[:1]
	s.m.Folder = alone.Rows[0].Info.Path
	s.hear(feed.News{Fleet: alone})
	s.press("@")
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("enter")
	if e, ok := effectOf[feed.SwitchCity](s); !ok || e.Name != "harbour" {
		t.Errorf("got %+v, want a switch to harbour", e)
	}
}

// If the list does not contain the city of this room, the first key does not switch to another city.
func TestTheTextAboutOtherCitiesBecomesAListWithoutThisCity(t *testing.T) {
	s := among(t, 80, 24)
	s.m.HomeFolder = ""
	alone, others := unsupervisedFleet(), unsupervisedFleet()
	alone.Rows, others.Rows = nil, others.Rows[1:]
	s.hear(feed.News{Fleet: alone})
	s.press("@")
	s.shows("Other cities")
	s.wait(time.Second)
	s.hear(feed.News{Fleet: others})
	s.hides("Other cities")
	s.shows("harbour")
	s.hear(feed.News{Fleet: others}) // an update while the list is open
	s.press("enter")
	if e, ok := effectOf[feed.SwitchCity](s); ok {
		t.Errorf("the first key switches to %s", e.Name)
	}
	s.shows("press enter again")
	s.press("enter")
	if _, ok := effectOf[feed.SwitchCity](s); !ok {
		t.Error("the second key does not switch")
	}
}

// starter is a directory without a supervisor. Its city beta is not running.
type starter struct {
	city.Directory
	refuses atomic.Bool
	started chan struct{}
}

func (d *starter) Supervised() bool { return false }

func (d *starter) Start(_ context.Context, name string) error {
	if d.refuses.Load() || name != "beta" {
		return errors.New("the controller did not start: not trusted")
	}
	close(d.started)
	return nil
}

func (d *starter) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		all, err := d.Cities(ctx)
		for i := range all {
			if all[i].Name == "beta" {
				all[i].Running, all[i].Status = false, city.CityStopped
			}
		}
		if !yield(all, err) {
			return
		}
		select {
		case <-ctx.Done():
		case <-d.started:
			d.Directory.Watch(ctx)(yield)
		}
	}
}

// A switch can start a controller first. If that fails, the room does not change.
func TestASwitchStartsAController(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	a := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true})
	b := citytest.NewFake("beta", city.Agent{Name: "two", Running: true})
	d := &starter{Directory: citytest.NewDirectory(a, b), started: make(chan struct{})}
	d.refuses.Store(true)
	c := inHouse(t, Options{City: a, Cities: d, Folder: "/alpha", Mode: state.Joined})
	c.sees("0 one")
	c.coax("@", "no supervisor is running")
	c.keys("beta\r")
	c.sees("Start beta?")
	c.coax("y", "cannot start beta: the controller did not start: not trusted")
	d.refuses.Store(false)
	c.coax("@", "no supervisor is running")
	c.keys("beta\r")
	c.sees("Start beta?")
	c.coax("y", "0 two")
}

// restarter is a directory of cities without a supervisor. Start replaces the list of cities.
type restarter struct {
	*citytest.Directory
	alone *citytest.Directory // the cities after the start
	until context.Context     // canceled by Start
	start context.CancelFunc
}

func (d *restarter) now() *citytest.Directory {
	if d.until.Err() != nil {
		return d.alone
	}
	return d.Directory
}

func (d *restarter) Supervised() bool { return false }

func (d *restarter) Start(context.Context, string) error {
	d.start()
	return nil
}

func (d *restarter) City(name string) (city.Control, error) { return d.now().City(name) }

func (d *restarter) Cities(ctx context.Context) ([]city.Info, error) { return d.now().Cities(ctx) }

func (d *restarter) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		before, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(d.until, cancel)()
		for all, err := range d.Directory.Watch(before) {
			if !yield(all, err) {
				return
			}
		}
		d.alone.Watch(ctx)(yield)
	}
}

// A room works again after the user has started its stopped city.
func TestARoomReachesTheControllerThatItStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	fake := func(name, agent string) *citytest.Fake {
		return citytest.NewFake(name, city.Agent{Name: agent, Running: true})
	}
	a, b := fake("alpha", "one"), fake("beta", "fresh")
	d := &restarter{Directory: citytest.NewDirectory(a, fake("beta", "two")), alone: citytest.NewDirectory(a, b)}
	d.until, d.start = context.WithCancel(t.Context())
	c := inHouse(t, Options{City: a, Cities: d, Folder: "/alpha", Mode: state.Joined})
	c.sees("0 one")
	c.to("beta")
	c.sees("0 two")
	d.SetCondition("beta", city.CityStopped, "")
	c.sees("@ starts it")
	c.coax("@", "asks whether to start it")
	c.coax("\r", "Start beta?")
	c.coax("y", "0 fresh")
	c.insist("r", "Restart fresh?") // two vanished, so the first key might be refused
	c.answer("y")
	c.until("the command arrives", func() bool { return len(b.Commands()) == 1 })
}

// A room of a city that a supervisor ran finds the controller that another program starts afterwards.
func TestARoomFindsTheNewControllerOfItsCity(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	fake := func(name, agent string) *citytest.Fake {
		return citytest.NewFake(name, city.Agent{Name: agent, Running: true})
	}
	a, b := fake("alpha", "one"), fake("beta", "fresh")
	d := &restarter{Directory: citytest.NewDirectory(a, fake("beta", "two")), alone: citytest.NewDirectory(a, b)}
	d.until, d.start = context.WithCancel(t.Context())
	c := inHouse(t, Options{City: a, Cities: d, Folder: "/alpha", Mode: state.Joined})
	c.sees("0 one")
	c.to("beta")
	c.sees("0 two")
	d.SetCondition("beta", city.CityStopped, "")
	c.sees("@ starts it")
	d.start()
	c.sees("0 fresh")
	c.insist("r", "Restart fresh?") // two vanished, so the first key might be refused
	c.answer("y")
	c.until("the command arrives", func() bool { return len(b.Commands()) == 1 })
}
