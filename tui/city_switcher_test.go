package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/internal/eventually"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/view"
)

// inHouse runs the control room in this process on a terminal of its own, until the test ends.
func inHouse(t *testing.T, o Options) *console {
	t.Helper()
	master, tty, err := openPty()
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, master: master, tty: tty, more: make(chan struct{}), screen: terminal.NewScreen(120, 40, 0)}
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 120, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	o.In, o.Out, o.Environ, o.Interrupts = tty, tty, []string{"TERM=xterm-256color"}, make(chan os.Signal)
	if o, err = o.withDefaults(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	c.wg.Go(c.read)
	c.wg.Go(func() {
		_, err := run(ctx, o, terminal.NewScreen)
		ended <- err
	})
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the control room does not exit")
		}
		_ = master.Close()
		_ = tty.Close()
		c.wg.Wait()
	})
	return c
}

func (c *console) until(what string, ok func() bool) {
	c.t.Helper()
	eventually.True(c.t, what, ok)
}

func (c *console) to(name string) {
	c.t.Helper()
	c.coax("@", "all cities in one list")
	c.keys(name)
	c.sees("1 of 1")
	c.keys("\r")
	c.sees(name + " · ")
}

// After a switch, the streams of the previous city end, but its commands still finish.
func TestLeavingACityEndsItsStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	a := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true}, city.Agent{Name: "two", Running: true})
	b := citytest.NewFake("beta", city.Agent{Name: "one", Running: true})
	held := make(chan struct{})
	a.OnDo(func(city.Command) (city.Receipt, error) {
		<-held
		return city.Receipt{Message: "alpha responded late"}, nil
	})
	d := citytest.NewDirectory(a, b)
	ctl, err := d.City("alpha")
	if err != nil {
		t.Fatal(err)
	}
	c := inHouse(t, Options{City: ctl, Cities: d, Folder: "/alpha", Mode: state.Joined})
	streams := func(name string, others int) func() bool {
		return func() bool { _, n := d.Streams(name); return n == others }
	}
	c.sees("1 of 2 @")
	c.sees("0 one")
	c.keys("j")
	c.sees("0 two")
	c.until("the pane and the events are read", streams("alpha", 2))
	c.coax("r", "Restart two?")
	c.coax("y", "restarting")
	c.to("beta")
	c.until("alpha is left alone", streams("alpha", 0))
	if all, _ := d.Streams("alpha"); all > 1 {
		t.Errorf("%d streams of a city that is not on the screen", all)
	}
	close(held)
	c.to("alpha")
	c.sees("alpha responded late")
	c.sees("0 two")
	c.until("beta is left alone", streams("beta", 0))
	if n := len(b.Commands()); n > 0 {
		t.Errorf("beta got %v", b.Commands())
	}
}

// The caller of Run gets the city that the room showed last.
func TestTheCallerLearnsWhichCityWasShown(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	a := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true})
	b := citytest.NewFake("beta", city.Agent{Name: "two", Running: true}, city.Agent{Name: "three"})
	left := make(chan ShownCity, 1)
	c := inHouse(t, Options{City: a, Cities: citytest.NewDirectory(a, b), Folder: "/alpha", Mode: state.Joined,
		OnLeave: func(s ShownCity) { left <- s }})
	c.sees("1 of 2 @")
	c.to("beta")
	c.sees("0 two")
	var got ShownCity
	c.until("the room closes", func() bool {
		c.keys("q")
		select {
		case got = <-left:
			return true
		default:
			return false
		}
	})
	if got.Name != "beta" || got.Folder != "/beta" || got.Agents != 1 || !got.Responds {
		t.Errorf("got %+v, want beta with 1 agent", got)
	}
}

// Commands to a city fail if its name now belongs to another city.
func TestCityWasReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	a := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true})
	b := citytest.NewFake("beta", city.Agent{Name: "one", Running: true})
	d := citytest.NewDirectory(a, b)
	c := inHouse(t, Options{Cities: d, Mode: state.Joined})
	c.sees("beta")
	c.keys("/beta\r")
	c.sees("1 of 2")
	c.coax("\r", "0 one")
	other := citytest.NewFake("beta", city.Agent{Name: "one", Running: true})
	d.Add("beta", "/elsewhere", other)
	c.coax("r", "Restart one?")
	c.coax("y", "beta is no longer the city in /beta")
	if n := len(other.Commands()) + len(b.Commands()); n > 0 {
		t.Errorf("%d commands were carried out", n)
	}
}

// The list shows that the directory is unavailable. Afterwards, it shows the cities that were added in the meantime.
func TestTheListGoesAndComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	d := citytest.NewDirectory(citytest.NewFake("alpha", city.Agent{Name: "one", Running: true}))
	c := inHouse(t, Options{Cities: d, Mode: state.Joined})
	c.sees("1/1")
	d.Fail(errors.New("the supervisor has ended"))
	c.sees("cannot be read: the supervisor has ended")
	d.Fail(nil)
	d.Folder("/srv/gamma", citytest.NewFake("gamma"))
	d.Add("beta", "/beta", citytest.NewFake("beta", city.Agent{Name: "x", Running: true}, city.Agent{Name: "y", Running: true}))
	c.sees("2/2")
	d.SetCondition("alpha", city.CityCrashed, "its loop panicked")
	c.sees("its loop panicked")
	c.keys("a")
	c.sees("register the city")
	c.keys("/srv/gamma\r")
	c.sees("gamma is registered")
	c.coax("/", "filter:")
	c.keys("gamma\r")
	c.sees("1 of 3")
	c.coax("\v", "Stop and unregister gamma")
	c.answer("gamma")
	c.coax("\r", "no longer registered")
}

// A city that does not respond is listed in its last known state.
func TestFleetWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fakes := map[string]*citytest.Fake{}
		d := citytest.NewDirectory()
		for _, name := range []string{"alpha", "beta"} {
			fakes[name] = citytest.NewFake(name, city.Agent{Name: "one", Running: true})
			d.Add(name, "/"+name, fakes[name])
		}
		ctx, cancel := context.WithCancel(t.Context())
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Cities.Directory = d
		l := feed.NewFleetWatcher(r)
		l.SetMailbox(r.Mailbox)
		r.Spawn("cities", l.Run)
		list := func() *fleet.List {
			synctest.Wait()
			l.Mu.Lock()
			defer l.Mu.Unlock()
			return l.Published
		}
		time.Sleep(2 * feed.FleetRefreshGap)
		if f := list(); !f.Find("alpha").Responded || f.Find("alpha").Summary.Running != 1 || !f.Find("beta").Responded {
			t.Fatalf("%+v", f)
		}
		d.Hang("alpha", true)
		time.Sleep(feed.FleetPollInterval + feed.FleetPollTimeout + feed.SilenceGrace + 2*feed.FleetRefreshGap)
		fakes["beta"].Set(func(s *city.Snapshot) { s.Agents[0].State = city.Quarantined })
		time.Sleep(2 * feed.FleetRefreshGap)
		f := list()
		if c := f.Find("alpha"); c.Unresponsive == "" || c.Summary.Running != 1 || c.LastResponse.IsZero() {
			t.Errorf("a city that hangs: %+v", c)
		}
		if c := f.Find("beta"); c.Summary.Held != 1 || len(c.Summary.Needs) != 1 || c.Unresponsive != "" {
			t.Errorf("the other city: %+v", c)
		}
		time.Sleep(time.Minute)
		if again := list(); again != f {
			t.Error("nothing has changed, but the list is sent again")
		}
		d.Hang("alpha", false)
		time.Sleep(feed.FleetPollInterval + 3*feed.FleetRefreshGap)
		if c := list().Find("alpha"); c.Unresponsive != "" {
			t.Errorf("the city responds again, but is listed as %+v", c)
		}
		cancel()
		r.Goroutines.Wait()
		if all, _ := d.Streams("alpha"); all != 0 {
			t.Errorf("%d streams are still open", all)
		}
	})
}

// The list shows the real state of a city that this program runs, although the supervisor rejects it.
func TestTheHostedCityIsInTheList(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	f := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true})
	d := citytest.NewDirectory(f, citytest.NewFake("beta", city.Agent{Name: "one", Running: true}))
	own, err := d.City("alpha")
	if err != nil {
		t.Fatal(err)
	}
	refused := citytest.NewDirectory(f, citytest.NewFake("beta", city.Agent{Name: "one", Running: true}))
	refused.SetCondition("alpha", city.CityRefused, "another controller has it")
	c := inHouse(t, Options{City: own, Cities: refused, Folder: "/alpha", Mode: state.Hosting})
	c.sees("1 of 2 @")
	c.keys("@")
	c.sees("1/1 up")
	c.keys("all cit")
	c.sees(">   all cities in one list")
	c.keys("\r")
	c.sees("this program runs alpha")
	c.answer("/alpha\r")
	c.sees("1 of 2")
	c.coax("s", "Suspend alpha?")
	c.answer("y")
	c.sees("alpha: ")
	if got := fmt.Sprint(f.Commands()); got != "[{}]" {
		t.Errorf("alpha got %s", got)
	}
}

func TestEachCityRemembersItself(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	dir := t.TempDir()
	d := citytest.NewDirectory(citytest.NewFake("alpha", city.Agent{Name: "one", Running: true}), citytest.NewFake("beta", city.Agent{Name: "one", Running: true}))
	memory := func(folder string) string { return filepath.Join(dir, strings.TrimPrefix(folder, "/")+".json") }
	c := inHouse(t, Options{Cities: d, Mode: state.Joined, StateFileOf: memory})
	c.sees("beta")
	c.keys("/beta\r")
	c.sees("1 of 2")
	c.coax("\r", "0 one")
	c.coax("/", "filter:")
	c.keys("on\r")
	c.sees("/on")
	c.coax("@", "Cities /beta")
	c.until("it is written", func() bool { data, _ := os.ReadFile(memory("/beta")); return strings.Contains(string(data), `"on"`) })
	if _, err := os.Stat(memory("/alpha")); err == nil {
		t.Error("a city that was not visited has stored state")
	}
}

func fifty() (*citytest.Directory, []*citytest.Fake) {
	d := citytest.NewDirectory()
	all := make([]*citytest.Fake, 50)
	for i := range all {
		name := fmt.Sprintf("city-%02d", i)
		f := citytest.NewFake(name)
		f.Set(func(s *city.Snapshot) { s.Agents = crowd(100).Agents })
		d.Add(name, "/"+name, f)
		all[i] = f
	}
	return d, all
}

// BenchmarkFleetWatcher measures the update of the list after a snapshot of a hidden city.
func BenchmarkFleetWatcher(b *testing.B) {
	d, all := fifty()
	r := &feed.Runner{Ctx: b.Context(), Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: func() {}}
	r.Cities.Directory = d
	l := feed.NewFleetWatcher(r)
	l.Mailbox, l.Responded = r.Mailbox, true
	infos, _ := d.Cities(b.Context())
	l.Infos = infos
	for _, in := range infos {
		l.Watched[in.Name] = &feed.CityWatch{}
	}
	for i := 0; b.Loop(); i++ {
		s, _ := all[i%50].Snapshot(b.Context())
		l.Take(b.Context(), l.Watched[infos[i%50].Name], s, true)
		l.PublishChanges()
	}
}

// BenchmarkFrameFleet measures a frame of the list of 50 cities after an update.
func BenchmarkFrameFleet(b *testing.B) {
	s := lobby(b, 200, 60, Options{})
	f := &fleet.List{}
	for i := range 50 {
		name := fmt.Sprintf("city-%02d", i)
		f.Rows = append(f.Rows, fleet.City{DisplayName: name, Responded: true, Summary: fleet.Summarize(crowd(100), epoch),
			Info: city.Info{Name: name, Path: "/" + name, Running: true, Status: city.CityRunning}})
	}
	for b.Loop() {
		next := *f
		s.hear(feed.News{Fleet: &next})
		view.Draw(s.m)
	}
}

// late is a directory with a supervisor that starts later.
type late struct {
	city.Directory
	come atomic.Bool
}

func (l *late) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	if !l.come.Load() {
		return func(yield func([]city.Info, error) bool) { yield(nil, city.ErrNoSupervisor) }
	}
	return l.Directory.Watch(ctx)
}

func TestSupervisorStartsLater(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	a := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true})
	b := citytest.NewFake("beta", city.Agent{Name: "two", Running: true})
	d := &late{Directory: citytest.NewDirectory(a, b)}
	c := inHouse(t, Options{City: a, Cities: d, Folder: "/alpha", Mode: state.Joined})
	c.sees("0 one")
	c.insist("@", "gcity knows no other city")
	d.come.Store(true)
	c.sees("all cities in one list") // the text becomes the list
	c.keys("\x1b")
	c.sees("1 of 2 @")
	c.to("beta")
	c.sees("0 two")
}

func TestAListOfOneCitySaysHowToAddOne(t *testing.T) {
	s := among(t, 120, 40)
	s.press("@")
	s.hides("gcity init")
	s.press("esc")
	alone := demoFleet(epoch)
	alone.Rows = alone.Rows[:1]
	s.hear(feed.News{Fleet: alone})
	s.press("@")
	s.shows("> ◆ bright-lights", "1 of 3", "`gcity init DIR` creates another city; this list then shows it.")
}
