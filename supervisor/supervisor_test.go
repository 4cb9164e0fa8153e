package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/events"
)

// fakeFleet is a set of simulated cities, by folder, on a fake clock.
type fakeFleet struct {
	t    *testing.T
	s    *Supervisor
	h    Home
	logs strings.Builder
	stop context.CancelFunc
	end  chan error
	edit map[string]chan struct{} // receives a value after each change to a configuration

	mu     sync.Mutex
	opens  map[string]int
	wrong  map[string]error         // error of the next attempt to open the city
	hangs  map[string]chan struct{} // attempts to open the city block until this channel is closed
	panics map[string]bool
	cities map[string]*testCity
	told   []string
	beats  int
	most   int // maximum number of cities being opened at the same time
	now    int
	set    []Settings
}

type testCity struct {
	land  *fakeFleet
	path  string
	snap  city.Snapshot
	late  time.Duration // before a snapshot is returned
	fails chan any      // receives an error, nil, or the value to panic with
	left  chan struct{}
	hurry chan struct{}
	slow  chan struct{} // nil = the city stops immediately
	over  bool
	deaf  bool // ignores the request to leave its agents running
	ended bool // the city's agents were asked to stop
}

var errBusy = errors.New("another controller has it")

func newFakeFleet(t *testing.T) *fakeFleet {
	l := &fakeFleet{t: t, h: newHome(t), opens: map[string]int{}, wrong: map[string]error{}, hangs: map[string]chan struct{}{}, panics: map[string]bool{},
		cities: map[string]*testCity{}, edit: map[string]chan struct{}{}, end: make(chan error, 1)}
	l.s = New(Options{
		Home: l.h, Logger: slog.New(slog.NewTextHandler(&l.logs, nil)), Open: l.open, Name: filepath.Base,
		Agents: func(string) (int, error) { return 7, nil }, Record: l.record, Watch: l.watch,
		Busy: func(err error) bool { return errors.Is(err, errBusy) }, ReportStatus: func(string) { l.mu.Lock(); l.beats++; l.mu.Unlock() },
		Apply: func(s Settings) { l.set = append(l.set, s) }, MaxOpening: 3,
	})
	return l
}

func (l *fakeFleet) begin(paths ...string) {
	for _, p := range paths {
		if err := Add(l.t.Context(), l.h, Entry{p, filepath.Base(p)}); err != nil {
			l.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	l.stop = cancel
	go func() { l.end <- l.s.Run(ctx) }()
	synctest.Wait()
}

func (l *fakeFleet) over(want string) {
	l.t.Helper()
	l.stop()
	if err := <-l.end; want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		l.t.Errorf("Run returned %v", err)
	}
}

func (l *fakeFleet) open(_ context.Context, e Entry) (City, error) {
	l.mu.Lock()
	l.opens[e.Path]++
	l.now++
	l.most = max(l.most, l.now)
	wrong, hang, panics := l.wrong[e.Path], l.hangs[e.Path], l.panics[e.Path]
	l.mu.Unlock()
	defer func() { l.mu.Lock(); l.now--; l.mu.Unlock() }()
	if hang != nil {
		<-hang
	}
	if panics {
		panic("in open")
	}
	if wrong != nil {
		return nil, wrong
	}
	time.Sleep(time.Millisecond) // on the bubble's fake clock
	t := &testCity{land: l, path: e.Path, fails: make(chan any, 1), left: make(chan struct{}), hurry: make(chan struct{}, 9),
		snap: city.Snapshot{Name: e.Name, Path: e.Path, Patrol: city.Patrol{Interval: time.Second}}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cities[e.Path] = t
	return t, nil
}

func (l *fakeFleet) city(path string) *testCity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cities[path]
}

func (l *fakeFleet) count(path string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opens[path]
}

func (l *fakeFleet) record(path string, e events.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, path+" "+e.Type+" "+e.Message)
	return nil
}

func (l *fakeFleet) watch(ctx context.Context, path string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, out := make(chan struct{}), make(chan struct{})
	l.edit[path] = c
	go func() {
		defer close(out)
		for {
			select {
			case <-c:
				out <- struct{}{}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (l *fakeFleet) is() string {
	synctest.Wait()
	all, err := l.s.Cities(l.t.Context())
	if err != nil {
		l.t.Error(err)
	}
	var out []string
	for _, i := range all {
		text := i.Name + " " + string(i.Status)
		if i.Until != nil {
			text += " " + time.Until(*i.Until).Round(time.Second).String()
		}
		if i.Running != (i.Status == city.CityRunning || i.Status == city.CitySuspended) {
			text += " running?"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func (l *fakeFleet) want(want string) {
	l.t.Helper()
	if got := l.is(); got != want {
		l.t.Errorf("%s; want %s", got, want)
	}
}

func (t *testCity) Control() city.Control { return &fakeControl{t: t} }

type fakeControl struct {
	city.Control
	t *testCity
}

func (h *fakeControl) Snapshot(context.Context) (*city.Snapshot, error) {
	t := h.t
	t.land.mu.Lock()
	late := t.late
	t.land.mu.Unlock()
	time.Sleep(late) // on the bubble's fake clock
	t.land.mu.Lock()
	defer t.land.mu.Unlock()
	s := t.snap
	s.Patrol.Last = time.Now()
	return &s, nil
}

func (t *testCity) Run(ctx context.Context, ready func()) error {
	defer t.Close()
	time.Sleep(time.Millisecond)
	ready()
	select {
	case v := <-t.fails:
		switch v := v.(type) {
		case nil:
			return nil
		case error:
			return v
		}
		panic("the loop of " + filepath.Base(t.path) + " broke")
	case <-t.left:
		return nil
	case <-ctx.Done():
		t.ended = true
	}
	if t.slow != nil {
		select {
		case <-t.slow:
			return errors.New("some agents are still running")
		case <-t.hurry:
		}
	}
	return nil
}

func (t *testCity) Leave() {
	if !t.deaf {
		close(t.left)
	}
}

func (t *testCity) Hurry() { t.hurry <- struct{}{} }

func (t *testCity) Close() {
	t.land.mu.Lock()
	defer t.land.mu.Unlock()
	if t.over {
		t.land.t.Errorf("%s was closed twice", t.path)
	}
	t.over = true
}

func tick() { time.Sleep(10 * time.Millisecond) } // on the bubble's fake clock

// If a city crashes, the other cities continue. The city is retried with increasing delays, or when its configuration
// changes.
func TestCityCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		l.want("a running, b running")
		first, other := l.city("/c/b"), l.city("/c/a")
		first.fails <- "panic"
		tick()
		l.want("a running, b crashed 10s")
		l.mu.Lock()
		if !slices.Equal(l.told, []string{"/c/b city.crashed a bug in gcity: the loop of b broke"}) {
			t.Errorf("events: %q", l.told)
		}
		l.mu.Unlock()
		if !strings.Contains(l.logs.String(), "supervisor.(*testCity).Run") {
			t.Errorf("want a stack in the log:\n%s", &l.logs)
		}
		for _, wait := range []string{"20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s"} {
			c, err := l.s.City("b")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "the city b is not running: it is crashed: ") {
				t.Errorf("%v", err)
			}
			all, _ := l.s.Cities(t.Context())
			time.Sleep(time.Until(*all[1].Until))
			tick()
			l.want("a running, b running")
			if s, err := c.Snapshot(t.Context()); err != nil || s.Name != "b" {
				t.Errorf("%v, %v", s, err)
			}
			l.city("/c/b").fails <- errors.New("lost\nmore")
			tick()
			l.want("a running, b crashed " + wait)
		}
		l.edit["/c/b"] <- struct{}{}
		tick()
		l.want("a running, b running")
		all, err := l.s.Cities(t.Context())
		if err != nil || all[1].Crashes != 7 || all[1].Error != "" {
			t.Errorf("%+v, %v", all, err)
		}
		if l.city("/c/a") != other || l.count("/c/a") != 1 {
			t.Error("the other city was affected")
		}
		time.Sleep(301 * time.Second)
		l.city("/c/b").fails <- errors.New("after a long time")
		tick()
		l.want("a running, b crashed 10s")
		if _, err := l.s.Register(t.Context(), "/c/b"); err == nil { // its folder does not exist
			t.Error("a missing folder was registered")
		}
		l.over("")
	})
}

// changeConfig reports a change to a city's configuration.
func (l *fakeFleet) changeConfig(path string) {
	l.t.Helper()
	synctest.Wait()
	l.mu.Lock()
	edit := l.edit[path]
	l.mu.Unlock()
	select {
	case edit <- struct{}{}:
	case <-time.After(time.Second):
		l.t.Errorf("the configuration of %s is not watched", path)
	}
}

// A change to a configuration that is made while the city is being opened is not missed.
func TestConfigurationChangesDuringOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.wrong["/c/a"] = errors.New("no")
		l.begin("/c/a")
		l.want("a refused 10s")
		finish := make(chan struct{})
		l.mu.Lock()
		l.hangs["/c/a"] = finish
		l.mu.Unlock()
		time.Sleep(10 * time.Second)
		l.want("a starting")
		l.changeConfig("/c/a")
		l.mu.Lock()
		clear(l.wrong)
		l.mu.Unlock()
		close(finish)
		tick()
		l.want("a running")
		l.over("")
	})
}

// A change to a configuration is not missed if opening the city has already exceeded its time limit.
func TestConfigurationChangesDuringSlowOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		finish := make(chan struct{})
		l.hangs["/c/a"], l.wrong["/c/a"] = finish, errors.New("no")
		l.begin("/c/a")
		time.Sleep(l.s.o.OpenTimeout + tenth)
		l.want("a refused 10s")
		l.changeConfig("/c/a")
		synctest.Wait()
		l.mu.Lock()
		clear(l.hangs)
		clear(l.wrong)
		l.mu.Unlock()
		close(finish)
		tick()
		l.want("a running")
		l.over("")
	})
}

// A watch that starts so late that the city has run in the meantime does not prevent a new one.
func TestWatchStartsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		late, calls := make(chan struct{}), 0
		l.s.o.Watch = func(ctx context.Context, path string) <-chan struct{} {
			if calls++; calls == 1 {
				<-late
			}
			return l.watch(ctx, path)
		}
		l.wrong["/c/a"] = errors.New("no")
		l.begin("/c/a")
		l.want("a refused 10s")
		l.mu.Lock()
		clear(l.wrong)
		l.mu.Unlock()
		time.Sleep(10*time.Second + tenth)
		l.want("a running")
		l.city("/c/a").fails <- errors.New("lost")
		tick()
		l.want("a crashed 20s")
		close(late)
		l.changeConfig("/c/a")
		tick()
		l.want("a running")
		l.over("")
	})
}

// A city that cannot be opened shows why and is retried. It does not block other cities.
func TestCityCannotBeOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		answer := make(chan struct{})
		l.wrong["/c/bad"], l.wrong["/c/busy"], l.panics["/c/odd"] = errors.New("city.toml:1:1: no"), errBusy, true
		for _, p := range []string{"/c/h1", "/c/h2", "/c/h3", "/c/h4"} {
			l.hangs[p] = answer
		}
		l.begin("/c/a", "/c/bad", "/c/busy", "/c/h1", "/c/h2", "/c/h3", "/c/h4", "/c/odd", "/c/z")
		time.Sleep(40 * time.Second)
		for _, i := range must(l.s.Cities(t.Context())) {
			switch i.Name {
			case "a", "z":
				if i.Status != city.CityRunning {
					t.Errorf("%+v", i)
				}
			case "h1", "h2", "h3", "h4":
				if i.Status == city.CityRunning || i.Status == city.CityRefused && (!strings.Contains(i.Error, "does not respond") || i.Cause != city.Unresponsive) || l.count(i.Path) != 1 {
					t.Errorf("%+v, %d", i, l.count(i.Path))
				}
			default:
				if i.Status != city.CityRefused || i.Until == nil || i.Error == "" || (i.Cause == city.RunsElsewhere) != (i.Name == "busy") {
					t.Errorf("%+v", i)
				}
			}
		}
		if n := l.count("/c/busy"); n < 3 {
			t.Errorf("got %d attempts for a busy city", n)
		}
		if l.most > 7 { // three cities, and four calls that never returned
			t.Errorf("got %d cities opening at the same time", l.most)
		}
		l.mu.Lock()
		clear(l.wrong)
		clear(l.panics)
		l.mu.Unlock()
		close(answer)
		l.s.Reload()
		tick()
		l.want("a running, bad running, busy running, h1 running, h2 running, h3 running, h4 running, odd running, z running")
		l.over("")
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Cities start and stop when the file changes. An invalid file changes nothing.
func TestRegistryChangesAreApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		a := l.city("/c/a")
		write(t, l.h.Registry(), "[[cities]]\npath = \"/c/a\"\nname = \"a\"\n[[cities]]\npath = \"/c/n\"\n")
		time.Sleep(11 * time.Second)
		l.want("a running, n running")
		if !l.city("/c/b").over {
			t.Error("b is still running")
		}
		write(t, l.h.Registry(), "[[cities]]\npath = \"c/a\"\n")
		write(t, l.h.Settings(), "[supervisor]\nprot = 1\n")
		time.Sleep(11 * time.Second)
		l.want("a running, n running")
		if p := l.s.Problem(); !strings.Contains(p, l.h.Registry()+":2:8: ") || !strings.Contains(p, l.h.Settings()+":2:1: ") {
			t.Errorf("%q", p)
		}
		if _, err := l.s.Unregister(t.Context(), "n"); err == nil {
			t.Error("an invalid file was edited")
		}
		write(t, l.h.Registry(), "[[cities]]\npath = \"/c/m\"\n")
		write(t, l.h.Settings(), "[supervisor]\nport = 0\npatrol_interval = \"1s\"\n")
		time.Sleep(11 * time.Second)
		l.want("m running")
		if a.over != true || l.s.Problem() != "" || len(l.set) != 2 || l.set[1].Port != 0 {
			t.Errorf("%v, %q, %+v", a.over, l.s.Problem(), l.set)
		}
		l.over("")
	})
}

// If the registry is still being written and some cities are missing, these cities are not stopped.
func TestRegistryBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		whole := string(must(os.ReadFile(l.h.Registry())))
		for i := range whole {
			write(t, l.h.Registry(), whole[:i])
			l.s.Reload()
			time.Sleep(50 * time.Millisecond)
			write(t, l.h.Registry(), whole)
			time.Sleep(time.Second)
		}
		time.Sleep(11 * time.Second)
		l.want("a running, b running")
		if l.count("/c/a") != 1 || l.count("/c/b") != 1 {
			t.Error("a city was stopped")
		}
		if p := l.s.Problem(); p != "" {
			t.Error(p)
		}
		l.over("")
	})
}

// Register starts a city and Unregister stops it. Both return the result.
func TestRegistrar(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "x/a"} {
		write(t, filepath.Join(dir, name, "city.toml"), "")
	}
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	real := must(filepath.EvalSymlinks(dir))
	synctest.Test(t, func(t *testing.T) {
		l, ctx := newFakeFleet(t), t.Context()
		l.begin()
		for range 2 {
			i, err := l.s.Register(ctx, filepath.Join(dir, "link"))
			if err != nil || i.Name != "a" || i.Path != filepath.Join(real, "a") || i.Status != city.CityRunning {
				t.Fatalf("%+v, %v", i, err)
			}
		}
		_, err := l.s.Register(ctx, filepath.Join(dir, "x/a"))
		if p, ok := errors.AsType[*city.Error](err); !ok || p.Code != city.Conflict || !strings.Contains(p.Message, filepath.Join(real, "a")) {
			t.Errorf("%v", err)
		}
		for _, bad := range []string{"a", filepath.Join(dir, "gone")} {
			_, err := l.s.Register(ctx, bad)
			if p, ok := errors.AsType[*city.Error](err); !ok || p.Code != city.Invalid {
				t.Errorf("%s: %v", bad, err)
			}
		}
		l.mu.Lock()
		l.wrong[filepath.Join(real, "b")] = errors.New("no")
		l.mu.Unlock()
		if i, err := l.s.Register(ctx, filepath.Join(dir, "b")); err != nil || i.Status != city.CityRefused || i.Error != "no" {
			t.Errorf("%+v, %v", i, err)
		}
		l.mu.Lock()
		clear(l.wrong)
		l.mu.Unlock()
		if i, err := l.s.Register(ctx, filepath.Join(dir, "b")); err != nil || i.Status != city.CityRunning {
			t.Errorf("%+v, %v", i, err)
		}
		l.city(filepath.Join(real, "b")).fails <- nil // stopped by a user
		tick()
		l.s.Reload()
		tick()
		l.want("a running, b stopped")
		if i, err := l.s.Register(ctx, filepath.Join(dir, "b")); err != nil || i.Status != city.CityRunning {
			t.Errorf("%+v, %v", i, err)
		}
		if d, err := l.s.Preview(ctx, filepath.Join(dir, "link")); err != nil || d != (city.Declared{Name: "a", Path: filepath.Join(real, "a"), Agents: 7}) {
			t.Errorf("%+v, %v", d, err)
		}
		r, err := l.s.Unregister(ctx, "a")
		if err != nil || !strings.Contains(r.Message, "a has stopped") || !l.city(filepath.Join(real, "a")).over {
			t.Errorf("%v, %v", r, err)
		}
		if _, err := l.s.City("a"); err == nil {
			t.Error("the city is still listed")
		}
		if _, err := l.s.Unregister(ctx, "a"); err == nil {
			t.Error("the city was unregistered twice")
		}
		slow := l.city(filepath.Join(real, "b"))
		slow.slow = make(chan struct{})
		close(slow.slow)
		if _, err := l.s.Unregister(ctx, "b"); err == nil || !strings.Contains(err.Error(), "some agents are still running") {
			t.Errorf("%v", err)
		}
		if i, err := l.s.Register(ctx, filepath.Join(dir, "b")); err != nil || i.Status != city.CityRunning {
			t.Errorf("%+v, %v", i, err)
		}
		l.over("")
	})
}

// A city that is registered while it stops is started again, even if Register no longer waits.
func TestRegisterStoppingCity(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	write(t, filepath.Join(dir, "a", "city.toml"), "")
	synctest.Test(t, func(t *testing.T) {
		l, path := newFakeFleet(t), filepath.Join(dir, "a")
		l.begin(path)
		tick()
		l.want("a running")
		first := l.city(path)
		l.mu.Lock()
		first.snap.ShutDown = true // as after the response to POST /v0/city/a/stop
		l.mu.Unlock()
		if all, err := l.s.Cities(t.Context()); err != nil || all[0].Status != city.CityStopping {
			t.Errorf("%+v, %v", all, err)
		}
		var got city.Info
		var err error
		done := make(chan struct{})
		go func() { got, err = l.s.Register(t.Context(), path); close(done) }()
		synctest.Wait()
		first.fails <- nil
		<-done
		if err != nil || got.Status != city.CityRunning || l.count(path) != 2 {
			t.Errorf("%+v, %v; opened %d times", got, err, l.count(path))
		}
		l.want("a running")

		second := l.city(path)
		l.mu.Lock()
		second.snap.ShutDown = true
		l.mu.Unlock()
		if got, err := l.s.Register(t.Context(), path); err != nil || got.Status != city.CityStopping {
			t.Errorf("after the time limit: %+v, %v", got, err)
		}
		second.fails <- nil
		tick()
		l.want("a running")
		if n := l.count(path); n != 3 {
			t.Errorf("opened %d times", n)
		}
		l.city(path).fails <- nil // the registration does not start the city a second time
		tick()
		l.want("a stopped")
		l.over("")
	})
}

// No two cities ever have the same name. A city that takes another's name waits until that name is free.
func TestNamesAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		old := l.city("/c/a")
		old.slow = make(chan struct{})
		write(t, l.h.Registry(), "[[cities]]\npath = \"/c/b\"\nname = \"b\"\n[[cities]]\npath = \"/d/a\"\n")
		time.Sleep(10*time.Second + 2*quietPeriod)
		l.want("a stopping, a-2 refused 10s, b running")
		if c := must(l.s.City("a")); must(c.Snapshot(t.Context())).Path != "/c/a" {
			t.Error("a is a different city")
		}
		if _, err := must(l.s.City("a-2")).Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), `the name "a" is still used by /c/a, which is being stopped`) {
			t.Errorf("%v", err)
		}
		old.hurry <- struct{}{}
		tick()
		l.want("a running, b running")

		// two running cities swap their names
		write(t, l.h.Registry(), "[[cities]]\npath = \"/c/b\"\nname = \"a\"\n[[cities]]\npath = \"/d/a\"\nname = \"b\"\n")
		time.Sleep(10 * time.Second)
		tick()
		l.want("a running, b running")
		l.city("/c/b").fails <- errors.New("once")
		time.Sleep(10 * time.Second)
		tick()
		l.want("a running, b refused 10s")
		if c := must(l.s.City("a")); must(c.Snapshot(t.Context())).Path != "/d/a" {
			t.Error("a has changed")
		}
		if all := must(l.s.Cities(t.Context())); !strings.Contains(all[1].Error, `the name "a" is still used by /d/a, which will be called "b" after its next start`) {
			t.Errorf("%+v", all[1])
		}
		l.city("/d/a").fails <- errors.New("once")
		time.Sleep(20 * time.Second)
		l.want("a running, b running")
		if c := must(l.s.City("a")); must(c.Snapshot(t.Context())).Path != "/c/b" {
			t.Error("the cities did not swap their names")
		}
		l.over("")
	})
}

// A city that is being opened keeps its name until its next start, however long opening takes.
func TestRenameWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		opening := make(chan struct{})
		l.hangs["/c/a"] = opening
		l.begin("/c/a")
		tick()
		write(t, l.h.Registry(), "[[cities]]\npath = \"/c/a\"\nname = \"n\"\n[[cities]]\npath = \"/d/a\"\nname = \"a\"\n")
		time.Sleep(10*time.Second + 2*quietPeriod)
		l.want("a starting, a-2 refused 10s")
		time.Sleep(10 * time.Second) // OpenTimeout has passed, but Open has not returned
		l.want("a refused 5s, a-2 refused 10s")
		close(opening)
		tick()
		l.want("a running, a-2 refused 10s")
		if c := must(l.s.City("a")); must(c.Snapshot(t.Context())).Path != "/c/a" {
			t.Error("a is a different city")
		}
		l.city("/c/a").fails <- errors.New("once")
		time.Sleep(20 * time.Second)
		l.want("a running, n running")
		if c := must(l.s.City("n")); must(c.Snapshot(t.Context())).Name != "n" {
			t.Error("the city was opened with a different name")
		}
		l.over("")
	})
}

// A stop request stops all cities at the same time and reports which ones might still have agents. A second request
// kills the agents immediately.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b", "/c/c")
		tick()
		slow, hurried := l.city("/c/b"), l.city("/c/c")
		slow.slow, hurried.slow = make(chan struct{}), make(chan struct{})
		l.stop()
		l.want("a stopped, b stopping, c stopping")
		was := l.beaten()
		time.Sleep(10 * time.Second)
		if l.beaten() == was {
			t.Error("got no status reports while the supervisor waits for its cities")
		}
		close(slow.slow)
		l.want("a stopped, b stopped, c stopping")
		l.s.Hurry()
		l.over("b (/c/b): some agents are still running")
	})
}

// A second stop request also applies to a city that is still being opened.
func TestHurryWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		hang := make(chan struct{})
		l.hangs["/c/a"] = hang
		l.begin("/c/a")
		tick()
		l.stop()
		l.s.Hurry()
		close(hang)
		l.over("")
		if n := len(l.city("/c/a").hurry); n != 1 {
			t.Errorf("the city was hurried %d times, want once", n)
		}
	})
}

// A supervisor that was started by a command exits some time after its last city was unregistered.
func TestUntilEmpty(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.s.o.UntilEmpty = true
		l.s.o.Name = func(path string) string {
			time.Sleep(1500 * time.Millisecond) // on the bubble's fake clock
			return filepath.Base(path)
		}
		l.begin("/c/a")
		time.Sleep(time.Minute + tenth)
		l.want("a running")
		if _, err := l.s.Unregister(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(29*time.Second + 5*tenth)
		// during this call, the last idle pulse would end the supervisor
		if i, err := l.s.Register(t.Context(), dir); err != nil || !i.Running {
			t.Fatalf("register while the supervisor is idle: %+v, %v", i, err)
		}
		if _, err := l.s.Unregister(t.Context(), filepath.Base(dir)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-l.end:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			l.over("")
			t.Error("the supervisor does not exit without cities")
		}
	})
}

// A stop right after the start opens the registered cities to stop agents from an earlier run. It does not wait for a
// hung registry.
func TestStopBeforeTheFirstRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		for _, p := range []string{"/c/a", "/c/b"} {
			if err := Add(t.Context(), l.h, Entry{p, filepath.Base(p)}); err != nil {
				t.Fatal(err)
			}
		}
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.s.Run(stopped); err != nil {
			t.Error(err)
		}
		for _, p := range []string{"/c/a", "/c/b"} {
			if c := l.city(p); c == nil || !c.ended {
				t.Errorf("%s was not opened and stopped: %+v", p, c)
			}
		}

		l = newFakeFleet(t)
		hangs := make(chan struct{})
		defer close(hangs)
		l.s.read = func() readResult { <-hangs; return readResult{} }
		began := time.Now()
		if err := l.s.Run(stopped); err != nil || time.Since(began) > time.Minute {
			t.Errorf("with a hung registry: %v after %v", err, time.Since(began))
		}
	})
}

// A stop also stops agents from an earlier run of a city that is not open.
func TestStopOfCityNotRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		answer := make(chan struct{})
		l.hangs["/c/late"] = answer
		l.begin("/c/gone", "/c/late", "/c/mute", "/c/odd", "/c/refused")
		tick()
		for _, p := range []string{"/c/gone", "/c/odd"} {
			l.city(p).fails <- errors.New("once")
		}
		tick()
		l.mu.Lock()
		l.wrong["/c/odd"], l.wrong["/c/refused"] = errors.New("no"), errors.New("no")
		l.mu.Unlock()
		l.city("/c/refused").fails <- nil
		tick()
		if _, err := l.s.Unregister(t.Context(), "gone"); err != nil || !l.city("/c/gone").ended {
			t.Errorf("%v, %v", err, l.city("/c/gone").ended)
		}
		l.stop()
		synctest.Wait()
		close(answer)
		l.over("odd (/c/odd): the city's agents keep running, because the city cannot be opened again to stop them: no")
		if !l.city("/c/late").ended {
			t.Error("agents of the late city are still running")
		}
		if n := l.count("/c/refused"); n != 1 {
			t.Errorf("got %d starts of a stopped city, want 1", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		answer := make(chan struct{})
		l.hangs["/c/late"] = answer
		l.begin("/c/late", "/c/odd")
		tick()
		l.city("/c/odd").fails <- errors.New("once")
		tick()
		l.s.Leave()
		close(answer)
		l.over("")
		if l.city("/c/late").ended || l.count("/c/odd") != 1 {
			t.Error("agents that should keep running were stopped")
		}
	})
}

// Leave stops the supervisor and keeps all agents running.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		l.s.Leave()
		if err := <-l.end; err != nil {
			t.Error(err)
		}
		for _, p := range []string{"/c/a", "/c/b"} {
			select {
			case <-l.city(p).left:
			default:
				t.Errorf("%s was stopped", p)
			}
		}
		l.stop()
	})
}

// A city that does not stop in time during Leave is abandoned. Its agents keep running.
func TestLeaveWithUnresponsiveCity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		deaf := l.city("/c/b")
		deaf.deaf = true
		l.s.Leave()
		l.over("b (/c/b): the city did not stop in time; its agents keep running")
		synctest.Wait()
		if deaf.ended || l.city("/c/a").ended {
			t.Error("the supervisor asked agents to stop")
		}
		deaf.fails <- nil
	})
}

// Watch reports every change, even within a city. A slow reader skips states.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a")
		tick()
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		var wg sync.WaitGroup
		wg.Go(func() {
			for all, err := range l.s.Watch(ctx) {
				if err != nil {
					t.Error(err)
				}
				text := ""
				for _, i := range all {
					text += fmt.Sprintf("%s %s;", i.Name, i.Status)
				}
				got = append(got, text)
			}
		})
		time.Sleep(time.Minute)
		a := l.city("/c/a")
		l.mu.Lock()
		a.snap.Suspended = true
		l.mu.Unlock()
		time.Sleep(2 * time.Second)
		a.fails <- nil
		time.Sleep(2 * time.Second)
		cancel()
		wg.Wait()
		if want := []string{"a running;", "a suspended;", "a stopped;"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		l.over("")
	})
}
