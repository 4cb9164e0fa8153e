package tui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

var fleetSizes = [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 10}, {30, 4}}

func TestGoldenFleet(t *testing.T) {
	for _, size := range fleetSizes {
		s := lobby(t, size[0], size[1], Options{})
		s.frame("fleet")
		golden(t, fmt.Sprintf("testdata/fleet-%dx%d.txt", size[0], size[1]), s.text())
		s.press("tab", "j")
		s.frame("needs")
		golden(t, fmt.Sprintf("testdata/fleet-needs-%dx%d.txt", size[0], size[1]), s.text())
		s = among(t, size[0], size[1])
		s.frame("among")
		golden(t, fmt.Sprintf("testdata/among-%dx%d.txt", size[0], size[1]), s.text())
		s.press("@")
		s.frame("switch")
		golden(t, fmt.Sprintf("testdata/switch-%dx%d.txt", size[0], size[1]), s.text())
	}
	for look, options := range looks() {
		s := lobby(t, 80, 24, options)
		golden(t, fmt.Sprintf("testdata/%s/fleet.txt", look), s.painted())
	}
}

// At any size and with any dialog, no line is missing or too long.
func TestFleetFrames(t *testing.T) {
	const share = 5 // each dialog is drawn at one size out of five
	ws := []int{1, 11, 39, 40, 41, 59, 60, 66, 76, 80, 100, 110, 160, 200}
	hs := []int{1, 4, 5, 9, 10, 12, 16, 21, 22, 24, 28, 29, 40, 60}
	for i, keys := range [][]string{{}, {"tab"}, {"/", "m"}, {"?"}, {"d"}, {"ctrl+k"}, {"s"}, {"a", "/"}, {"q"}, {"x", "mess", "enter"}} {
		s := lobby(t, 120, 40, Options{})
		s.press(keys...)
		for at := i % share; at < len(ws)*len(hs); at += share {
			w, h := ws[at%len(ws)], hs[at/len(ws)]
			s.size(w, h)
			s.frame(fmt.Sprintf("%v at %dx%d", keys, w, h))
		}
	}
}

func TestFleetInASCII(t *testing.T) {
	s := lobby(t, 120, 40, Options{ASCII: true, NoColor: true})
	for _, r := range s.text() {
		if r >= 0x7f {
			t.Fatalf("%q is not ASCII:\n%s", r, s.text())
		}
	}
}

// Cities are sorted by how urgently they need attention, then by name.
func TestFleetOrder(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	var got []string
	for i := range s.m.Cities.Rows {
		got = append(got, s.m.Cities.Rows[i].Info.Name)
	}
	want := []string{"delta", "quarry", "marsh", "bright-lights", "orchard", "harbour", "sleepy", "tower"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.shows("last response 1m ago: no response with", "retries in 8s: its loop panicked", "1 failed; 1 quarantined")
}

func TestFleetShowsLeftoverSessions(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.sail("quarry")
	s.press("d")
	s.hides("of an earlier run")
	s.m.Fleet.Find("quarry").Info.LeftoverSessions = 2
	s.press("esc", "d")
	s.shows("2 sessions from an earlier run; `gcity stop` in the city's folder stops them")
}

func TestFleetFilter(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.press("/")
	s.typeIn("!state:running mar")
	s.press("enter")
	s.shows("Cities /!state:running mar 1 of 8", "marsh")
	s.hides("harbour")
	s.press("esc")
	s.shows("harbour")
}

// A city that no longer matches the filter stays in the list until the cursor has left it, so that keys apply to it.
func TestFleetKeepsTheCityUnderTheCursor(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.press("/")
	s.typeIn("!state:running")
	s.press("enter")
	s.sail("marsh")
	f := demoFleet(epoch)
	c := f.Find("marsh")
	c.Unresponsive, c.Summary.Needs = "", nil
	s.hear(feed.News{Fleet: f})
	s.wait(2 * state.IdleAfter)
	if s.m.Cities.SelectedKey != "marsh" {
		t.Errorf("the cursor is on %s", s.m.Cities.SelectedKey)
	}
	s.press("s")
	s.shows("Suspend marsh?")
	s.press("esc", "g")
	s.wait(2 * state.IdleAfter)
	if !s.m.Cities.List.AllMatch(func(string) bool { return false }) {
		t.Errorf("marsh is still listed:\n%s", s.text())
	}
}

// The cursor stays on its agent if another city of the same name has an agent of the same name.
func TestFleetKeepsTheAgentUnderTheCursor(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.m.Home, s.m.HomeFolder = "marsh", "/home/marsh" // not registered
	s.m.HomeSnap, s.m.HomeSeen = demoSnapshot(epoch), epoch
	s.m.HomeSnap.Name, s.m.HomeSnap.Agents = "marsh", []city.Agent{{Name: "pump", State: city.Quarantined}}
	state.ListCities(s.m)
	s.press("tab", "g")
	seen := map[string]bool{}
	for range state.AllNeeds(s.m) {
		path := state.ChosenCity(s.m).Info.Path
		seen[path] = true
		s.hear(feed.News{Fleet: demoFleet(epoch)})
		if got := state.ChosenCity(s.m).Info.Path; got != path {
			t.Errorf("the cursor moved from %s to %s", path, got)
		}
		s.press("j")
	}
	if !seen["/home/marsh"] || !seen["/srv/marsh"] {
		t.Errorf("the cities of the agents are %v", seen)
	}
}

// While the user works, rows stay in place and the cursor stays on its city.
func TestFleetKeepsStillUnderTheCursor(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.sail("harbour")
	f := demoFleet(epoch)
	f.Find("harbour").Unresponsive = "no response within 2s"
	s.hear(feed.News{Fleet: f})
	if s.m.Cities.SelectedKey != "harbour" || s.m.Cities.Rows[0].Info.Name != "delta" || s.m.Cities.Rows[5].Info.Name != "harbour" {
		t.Errorf("the cursor is on %s, the rows %v", s.m.Cities.SelectedKey, s.text())
	}
	s.wait(2 * state.IdleAfter)
	if s.m.Cities.SelectedKey != "harbour" || s.m.Cities.Rows[2].Info.Name != "harbour" {
		t.Errorf("the cursor is on %s, and harbour is not sorted in:\n%s", s.m.Cities.SelectedKey, s.text())
	}
}

// A verb acts on the city that its confirmation named, even if the cursor has moved.
func TestFleetVerbsNameTheirCity(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.sail("orchard")
	s.press("s")
	s.shows("Suspend orchard?")
	f := demoFleet(epoch)
	f.Rows = slices.DeleteFunc(f.Rows, func(c fleet.City) bool { return c.Info.Name == "bright-lights" })
	s.hear(feed.News{Fleet: f})
	s.press("y")
	want := feed.CityCommand{Name: "orchard", Path: "/srv/orchard", Command: city.Suspend{}}
	if e, _ := effectOf[feed.SendCityCommand](s); !reflect.DeepEqual(e.Target, want) {
		t.Errorf("%+v, want %+v", e.Target, want)
	}
	s.press("esc")
	s.sail("sleepy")
	s.press("s")
	if e, _ := effectOf[feed.SendCityCommand](s); !reflect.DeepEqual(e.Target, feed.CityCommand{Name: "sleepy", Path: "/srv/sleepy", Command: city.Resume{}}) {
		t.Errorf("%+v", e.Target)
	}
	s.sail("tower")
	s.press("R")
	s.shows("tower is not running: it is stopped")
}

// To stop many agents, the user must type their number.
func TestFleetAsksForMany(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.sail("harbour")
	s.press("s")
	s.shows("of 8 agents.", "> no, leave it", "type 8, the number of running agents, to confirm")
	s.press("y", "enter")
	if _, did := effectOf[feed.SendCityCommand](s); did {
		t.Fatal("a single key stops eight agents")
	}
	s.press("esc", "ctrl+k")
	s.shows("Stop and unregister harbour")
	s.press("enter")
	if _, did := effectOf[feed.UnregisterCity](s); did {
		t.Fatal("a single key unregisters a city")
	}
	s.press("ctrl+k")
	s.typeIn("harbour")
	s.press("enter")
	if e, _ := effectOf[feed.UnregisterCity](s); e.Name != "harbour" || e.Path != "/srv/harbour" {
		t.Errorf("%+v", e)
	}
}

func TestFleetReadOnly(t *testing.T) {
	s := lobby(t, 120, 40, Options{Mode: state.ReadOnly})
	for _, k := range []string{"s", "R", "a", "ctrl+k"} {
		s.press(k)
		s.shows("this control room is read-only")
		if len(s.out) > 0 || s.m.Dialogs.Choice() != nil || s.m.Dialogs.Prompt() != nil {
			t.Errorf("%s does something: %v", k, s.out)
		}
		s.press("esc")
	}
}

func TestFleetRegisters(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.sail("tower")
	s.press("a", "enter")
	if e, _ := effectOf[feed.RegisterCity](s); e.Path != "/srv/tower" {
		t.Errorf("a stopped city: %+v", e)
	}
	s.sail("harbour")
	s.press("a")
	s.typeIn("here")
	s.press("enter")
	s.shows("enter an absolute path, starting with /")
	s.press("ctrl+u")
	s.typeIn("/srv/new/")
	s.press("enter")
	if e, _ := effectOf[feed.RegisterCity](s); e.Path != "/srv/new" {
		t.Errorf("%+v", e)
	}
}

// Enter opens a city, or an agent in it.
func TestFleetEnters(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.sail("orchard")
	s.press("enter")
	e, _ := effectOf[feed.SwitchCity](s)
	if e.Name != "orchard" || e.Path != "/srv/orchard" {
		t.Fatalf("%+v", e)
	}
	s.press("s", "ctrl+k", "j")
	if s.m.Dialogs.Choice() != nil || s.m.Cities.SelectedKey != "orchard" {
		t.Error("keys meant for the other room do something here")
	}
	s.press("esc")
	s.shows("staying here")
	s.press("tab", "j", "enter")
	if e, _ = effectOf[feed.SwitchCity](s); e.Agent == "" || e.Name == "" {
		t.Errorf("%+v", e)
	}
}

func TestSwitchListSearches(t *testing.T) {
	s := among(t, 120, 40)
	s.press("@")
	s.shows("◆ bright-lights", "all cities in one list")
	s.typeIn("harb")
	s.press("enter")
	if e, _ := effectOf[feed.SwitchCity](s); e.Name != "harbour" || e.Path != "/srv/harbour" {
		t.Fatalf("%+v", e)
	}
	s.press("r", "y", "D", "q")
	s.wants()
	if s.m.Dialogs.Choice() != nil {
		t.Error("a key meant for harbour opens a question here")
	}
}

// The open list of cities is updated, and its cursor stays on the same city.
func TestSwitchListIsUpdated(t *testing.T) {
	s := among(t, 120, 40)
	s.press("@", "down", "down", "down", "down", "down", "down")
	at := finderRowLine(s.m)
	f := demoFleet(epoch)
	f.Rows = slices.DeleteFunc(f.Rows, func(c fleet.City) bool { return c.Info.Name == "delta" })
	s.hear(feed.News{Fleet: f})
	s.hides("delta")
	if finderRowLine(s.m) != at {
		t.Errorf("the cursor moved from %s to %s", at, finderRowLine(s.m))
	}
}

func TestSwitchToTheCurrentCity(t *testing.T) {
	s := among(t, 120, 40)
	s.press("@")
	s.typeIn("bright")
	s.press("enter")
	s.shows("already in bright-lights")
	if _, left := effectOf[feed.SwitchCity](s); left {
		t.Error("it switches to the city that is already shown")
	}
}

func TestSwitchWithoutAList(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("@")
	s.shows("Other cities", "gcity knows no other city", "gcity init DIR")
	s.press("esc")
	if got, _, _ := strings.Cut(s.text(), "\n"); strings.Contains(got, "@") {
		t.Errorf("the header mentions other cities: %s", got)
	}
}

func TestSwitchByThePalette(t *testing.T) {
	s := among(t, 120, 40)
	s.line("city orchard", "enter")
	if e, _ := effectOf[feed.SwitchCity](s); e.Name != "orchard" {
		t.Errorf("%+v", e)
	}
}

// At any width, the header shows the number of problems in other cities.
func TestHeaderNamesOtherCities(t *testing.T) {
	for w, want := range map[int]string{200: "1 of 8 · 4 cities in trouble @", 120: "@ cities !4", 99: "@ cities !4", 80: "@!4", 60: "@!4", 40: "@!4"} {
		s := among(t, w, 20)
		head, _, _ := strings.Cut(s.text(), "\n")
		if !strings.Contains(head, want) {
			t.Errorf("%d columns: %q, want %q", w, head, want)
		}
	}
}

// If there is only one city, every screen of at least 80x24 shows the key for other cities.
func TestKeyForOtherCitiesIsShown(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {100, 30}, {119, 40}, {120, 40}, {200, 60}} {
		s := among(t, size[0], size[1])
		s.change(withPools)
		s.hear(feed.News{Fleet: &fleet.List{Unmaintained: true}})
		for _, key := range []string{"1", "2", "3", "4", "5", "8", "9", "0"} {
			s.press(key)
			if size[0] == 80 {
				head, _, _ := strings.Cut(s.text(), "\n")
				if !strings.Contains(head, "bright-lights · @ cities ") || !strings.Contains(head, "1 failed  1 quarantined  1 backoff  11 running of 21") {
					t.Errorf("%s: %q", key, head)
				}
				continue
			}
			s.shows("@ cities")
		}
	}
	s := among(t, 80, 24)
	s.hear(feed.News{Fleet: &fleet.List{}})
	s.change(func(n *city.Snapshot) { n.Agents = n.Agents[:3] })
	s.shows(" bright-lights · @ cities ")
}

// On narrow screens, a room that runs its city says so, even if there are other cities.
func TestHeaderOfARoomThatRunsOneOfSeveralCities(t *testing.T) {
	for _, w := range []int{60, 70, 80, 99} {
		s := among(t, w, 24)
		s.m.Mode = state.Hosting
		s.change(func(n *city.Snapshot) {
			n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.State != city.Running })
		})
		s.frame(fmt.Sprint(w))
		head, _, _ := strings.Cut(s.text(), "\n")
		for _, want := range []string{"@ cities !4 · runs here", "10:42"} {
			if !strings.Contains(head, want) {
				t.Errorf("%d columns: %q, want %q", w, head, want)
			}
		}
	}
}

// A suspended city is shown as suspended, whatever problem it had before.
func TestSuspendedCityIsNotInTrouble(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	c := s.m.Fleet.Find("orchard")
	if h := fleet.HealthOf(&s.m.Look, c); h.Word != "trouble" || c.AttentionCount() != 1 {
		t.Errorf("%+v, %d need attention", h, c.AttentionCount())
	}
	c.Summary.Suspended, c.Summary.Needs = true, []fleet.Need{{}}
	if h := fleet.HealthOf(&s.m.Look, c); h.Word != "suspended" || c.AttentionCount() != 0 {
		t.Errorf("%+v, %d need attention", h, c.AttentionCount())
	}
}

func TestStoppingCityIsNotInTrouble(t *testing.T) {
	s := among(t, 80, 24)
	f := demoFleet(epoch)
	c := f.Find("orchard")
	ending := demoSnapshot(epoch)
	ending.ShutDown = true
	c.Summary = fleet.Summarize(ending, epoch)
	for _, gone := range []string{"", "connection refused"} {
		c.Unresponsive = gone
		if h := fleet.HealthOf(&s.m.Look, c); h.Word != "stopping" || c.AttentionCount() != 0 ||
			c.Why(epoch) != "its agents are stopping" {
			t.Errorf("%+v, %d need attention, %s", h, c.AttentionCount(), c.Why(epoch))
		}
	}
	s.hear(feed.News{Fleet: f})
	s.press("@")
	s.shows("orchard        ↓ stopping")
	s.hides("shutting down")
}

// While the room waits for all agents to drain before leaving, the user cannot switch cities.
func TestNoSwitchWhileLeaving(t *testing.T) {
	s := among(t, 120, 40)
	s.m.Mode = state.Hosting
	s.press("q", "d")
	s.typeIn("5")
	s.press("enter")
	if !s.m.Departure.Waits() {
		t.Fatal(s.text())
	}
	s.press("@")
	s.shows("cannot switch city")
}

// If the user wants to leave from the room of another city, the question says which city this program runs. The room
// switches to that city only if the user wants to stop it.
func TestQuitElsewhereWhileHosting(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		exits := map[string]feed.Exit{"b": feed.HandOver, "h": feed.HandOver, "a": feed.KeepAgents}
		for key, exit := range exits {
			s := among(t, size[0], size[1])
			s.m.Home, s.m.HostsHome, s.m.At = "harbour", true, "bright-lights"
			s.press("q")
			if _, ok := effectOf[feed.SwitchCity](s); ok {
				t.Fatalf("%+v", s.out)
			}
			s.shows("Quit harbour?", "Only harbour runs in this control room's program.",
				"b  keep harbour running in the background", "n  no, stay")
			s.press("n", "q", key)
			if e, ok := effectOf[feed.Quit](s); !ok || e.Exit != exit {
				t.Fatalf("%+v", s.out)
			}
		}
	}
	s := among(t, 120, 40)
	s.m.Home, s.m.HostsHome, s.m.At = "harbour", true, "bright-lights"
	s.press("q", "s")
	if e, _ := effectOf[feed.SwitchCity](s); !e.Home || !e.AskLeave {
		t.Fatalf("%+v", s.out)
	}
	s = among(t, 120, 40)
	s.m.Home = "harbour"
	s.press("q")
	if e, _ := effectOf[feed.Quit](s); e.Exit != feed.Leave {
		t.Fatalf("%+v", s.out)
	}
}

// An older snapshot does not replace a newer one, so the time since the controller's last pass never jumps back.
func TestPulseNeverDecreases(t *testing.T) {
	s := demo(t, 120, 40)
	fresh, old := *s.m.Snap, *s.m.Snap
	fresh.Patrol.Last, old.Patrol.Last = epoch, epoch.Add(-10*fresh.Patrol.Interval)
	s.hear(feed.News{Snap: &fresh})
	s.hear(feed.News{Snap: &old})
	s.hides("has not turned")
	b := feed.NewMailbox()
	b.PutSnapshot(&fresh)
	b.PutSnapshot(&old)
	if n, _ := b.Take(epoch); n.Snap != &fresh {
		t.Error("the mailbox keeps the older snapshot")
	}
}

// A click moves the cursor to a row, a double click opens the row, and the wheel moves the cursor.
func TestFleetByMouse(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {60, 20}} {
		s := lobby(t, size[0], size[1], Options{})
		s.click("orchard")
		if s.m.Cities.SelectedKey != "orchard" {
			t.Errorf("the cursor is on %s", s.m.Cities.SelectedKey)
		}
		s.send(wheel{x: 3, y: 5, notches: 1})
		if s.m.Cities.SelectedKey != "harbour" {
			t.Errorf("the cursor is on %s", s.m.Cities.SelectedKey)
		}
		s.doubleClick("pump")
		if e, _ := effectOf[feed.SwitchCity](s); e.Name != "marsh" || e.Agent != "pump" {
			t.Errorf("%+v", e)
		}
	}
}

// The user can return to the city that the room was opened for, even if that city is not registered.
func TestHomeIsInNoList(t *testing.T) {
	s := among(t, 200, 40)
	s.m.Home, s.m.HomeFolder, s.m.HostsHome = "cottage-by-the-lake", "/home/cottage", true
	s.m.HomeSnap, s.m.HomeSeen = demoSnapshot(epoch), epoch
	s.m.HomeSnap.Name = s.m.Home
	s.shows("9 cities · ")
	s.press("@")
	s.shows("cottage-by-the-lake  ! trouble", "4/12 up", "not registered")
	s.typeIn("cottage")
	s.press("enter")
	if e, _ := effectOf[feed.SwitchCity](s); !e.Home {
		t.Errorf("%+v", s.out)
	}
}

// The list of all cities contains the city that the program was started for, even if that city is not registered.
func TestAllCitiesHaveTheOpenedOne(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.m.Home, s.m.HomeFolder = "cottage", "/home/cottage"
	s.m.HomeSnap, s.m.HomeSeen = demoSnapshot(epoch), epoch
	s.m.HomeSnap.Name = s.m.Home
	state.ListCities(s.m)
	s.press("/")
	s.typeIn("cottage")
	s.press("enter")
	s.shows("cottage", "not registered")
	s.press("s")
	s.shows("cottage is not registered; enter opens it")
	s.press("esc", "enter")
	if e, _ := effectOf[feed.SwitchCity](s); !e.Home {
		t.Errorf("%+v", s.out)
	}
}

func TestTheCursorIsOnAnotherCity(t *testing.T) {
	s := among(t, 120, 40)
	s.press("@", "enter")
	if e, left := effectOf[feed.SwitchCity](s); !left || e.Name == s.m.At {
		t.Errorf("%+v", s.out)
	}
}

// A watchdog's escalation is visible from other cities, even if no agent needs attention.
func TestWatchdogCallInAnotherCity(t *testing.T) {
	s := &city.Snapshot{Agents: []city.Agent{{Name: "deacon", State: city.Running, Running: true, Since: epoch}},
		Watchdogs: []city.Watchdog{{Name: "daemon", Watches: "deacon", Freshness: city.VeryStale,
			Escalated: &city.Escalation{At: epoch, To: "overseer", Message: "3 wakes did not help"}}}}
	c := fleet.City{Info: city.Info{Name: "chain", Running: true, Status: city.CityRunning}, Responded: true, Summary: fleet.Summarize(s, epoch)}
	if c.AttentionCount() != 1 || len(c.Summary.Needs) != 1 || !strings.Contains(c.Summary.Needs[0].Why, "watchdog daemon calls: 3 wakes did not help") {
		t.Errorf("%d need attention: %+v", c.AttentionCount(), c.Summary.Needs)
	}
	if why := c.Why(epoch); !strings.Contains(why, "watchdog daemon calls overseer: 3 wakes did not help") {
		t.Errorf("why: %q", why)
	}
	s.Watchdogs[0].Escalated.Seen = true
	if c.Summary = fleet.Summarize(s, epoch); c.AttentionCount() != 0 || c.Why(epoch) != "" {
		t.Errorf("the call is acknowledged, but the city still needs attention: %+v", c.Summary)
	}
}

// An agent that is stuck has the same state in the list of agents that need attention as in its own city.
func TestStuckElsewhere(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	b := fleet.Summarize(&city.Snapshot{Agents: []city.Agent{{Name: "monitor", State: city.Running, Running: true, Since: epoch.Add(-time.Hour),
		Blocker: city.Blocker{Stuck: &city.Stuck{Since: epoch.Add(-10 * time.Minute), Task: "gc-4"}}}, {Name: "scout", State: city.Running, Running: true,
		Blocker: city.Blocker{Asks: &city.Question{Since: epoch.Add(-time.Minute)}}}}}, epoch)
	s.hear(feed.News{Fleet: &fleet.List{Rows: []fleet.City{{DisplayName: "harbour", Responded: true, Summary: b, Info: city.Info{Name: "harbour", Path: "/srv/harbour", Running: true, Status: city.CityRunning}}}}})
	s.shows("! stuck", "monitor", "! asking", "scout")
	s.hides("● running")
	s.sail("harbour")
	s.press("d")
	s.shows("monitor is stuck for 10m: no output although it has work: gc-4", "scout is asking for 1m: asks a question; attach to answer it")
}

// Just after a switch, an early enter does not open a city, but a cursor move takes effect.
func TestEarlyKeysAfterASwitch(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.press("g")
	first := state.ChosenCity(s.m).Info.Name
	s.m.ArrivedAt = s.now
	s.send(tuitest.KeyPress("down"))
	s.send(tuitest.KeyPress("enter"))
	if _, ok := effectOf[feed.SwitchCity](s); ok || state.ChosenCity(s.m).Info.Name == first {
		t.Errorf("enter opened a city: %v; the cursor is on %s", ok, state.ChosenCity(s.m).Info.Name)
	}
	s.shows("enter came too early")
}
