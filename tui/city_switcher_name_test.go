package tui

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/state"
)

// A renamed city can be opened by its new name, from its old room and from the list.
func TestCityWithAnotherName(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	a := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true})
	d := citytest.NewDirectory(a, citytest.NewFake("beta", city.Agent{Name: "two", Running: true}))
	home, err := d.City("beta")
	if err != nil {
		t.Fatal(err)
	}
	c := inHouse(t, Options{City: home, Cities: d, Folder: "/beta", Mode: state.Joined})
	c.sees("2 of 2 @")
	c.to("alpha")
	c.sees("1 of 2 @")
	if _, err := d.Unregister(t.Context(), "alpha"); err != nil {
		t.Fatal(err)
	}
	c.sees("no response for")
	renamed := citytest.NewFake("gamma", city.Agent{Name: "three", Running: true})
	d.Add("gamma", "/alpha", renamed)
	c.sees("2 of 2 @")
	c.coax("@", "all cities in one list")
	c.keys("gamma")
	c.sees("1 of 1")
	c.keys("\r")
	c.sees("three")
	c.coax("r", "Restart three?")
	c.answer("y")
	c.until("gamma got it", func() bool { return len(renamed.Commands()) == 1 })
}

// If the name of the visible city now belongs to another city, that other city is not shown in its place.
func TestAnotherCityIsNotShownInItsPlace(t *testing.T) {
	d := citytest.NewDirectory(citytest.NewFake("alpha", city.Agent{Name: "one", Running: true}), citytest.NewFake("beta", city.Agent{Name: "two", Running: true}))
	c := inHouse(t, Options{Cities: d, Mode: state.Joined})
	c.sees("beta")
	c.keys("/beta\r")
	c.sees("1 of 2")
	c.coax("\r", "0 two")
	if _, err := d.Unregister(t.Context(), "beta"); err != nil {
		t.Fatal(err)
	}
	c.sees("no response for")
	impostor := citytest.NewFake("beta", city.Agent{Name: "impostor", Running: true})
	impostor.Set(func(s *city.Snapshot) { s.Path = "/elsewhere" })
	d.Add("beta", "/elsewhere", impostor)
	c.sees("beta is no longer the city in /beta")
	if text, _ := c.look(); strings.Contains(text, "impostor") {
		t.Errorf("another city is shown:\n%s", text)
	}
}

// silentList is a directory that never responds.
type silentList struct{ *citytest.Directory }

func (silentList) Cities(ctx context.Context) ([]city.Info, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSwitchToACityHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := silentList{citytest.NewDirectory(citytest.NewFake("alpha", city.Agent{Name: "one", Running: true}))}
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Cities = feed.Cities{Directory: d}
		r.OpenCity(feed.SwitchCity{ID: 1, Name: "alpha", Path: "/alpha"}, nil, "")
		time.Sleep(time.Hour)
		synctest.Wait()
		n, _ := r.Mailbox.Take(time.Now())
		if n.OpenedCity == nil || n.OpenedCity.Problem == "" {
			t.Errorf("the missing response of the directory is not reported: %+v", n.OpenedCity)
		}
		cancel()
		r.Goroutines.Wait()
	})
}

// A late result of a canceled switch does not replace the result of the next switch.
func TestTheNewerSwitchCounts(t *testing.T) {
	b := feed.NewMailbox()
	b.PutOpenedCity(&feed.OpenedCity{SwitchCity: feed.SwitchCity{ID: 2, Name: "beta"}})
	b.PutOpenedCity(&feed.OpenedCity{SwitchCity: feed.SwitchCity{ID: 1, Name: "alpha"}, Problem: "no answer"})
	if n, _ := b.Take(time.Now()); n.OpenedCity == nil || n.OpenedCity.ID != 2 {
		t.Errorf("arrived: %+v", n.OpenedCity)
	}
}

// Esc in the all-cities room goes back to the previous room, unless the program started there.
func TestBackFromAllCities(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	d := citytest.NewDirectory(citytest.NewFake("beta", city.Agent{Name: "two", Running: true}))
	c := inHouse(t, Options{City: citytest.NewFake("cottage", city.Agent{Name: "one", Running: true}), Cities: d, Folder: "/cottage", Mode: state.Joined})
	c.sees("2 cities @")
	c.coax("@", "not registered")
	c.keys("all cit")
	c.sees(">   all cities in one list")
	c.keys("\r")
	c.sees("No agent needs attention")
	c.coax("\x1b", "switched to cottage")
	c.to("beta")
	c.coax("@", "all cities in one list")
	c.keys("all cit")
	c.sees(">   all cities in one list")
	c.keys("\r")
	c.sees("No agent needs attention")
	c.coax("\x1b", "switched to beta")
	s := lobby(t, 120, 40, Options{})
	s.press("esc")
	if _, left := effectOf[feed.SwitchCity](s); left {
		t.Error("esc leaves the room in which the program started")
	}
}

// For a stopped city that was opened from the list, the header shows `gcity start`. For a slow city it does not.
func TestHowACityOfTheListComesBack(t *testing.T) {
	s := among(t, 200, 20)
	s.m.OpenedAs = "bright-lights"
	s.change(func(n *city.Snapshot) { n.Mode = "supervised" })
	for why, want := range map[string]string{"no supervisor is running here": "; run `gcity start` in its folder; the data shown", feed.NoResponseYet: feed.NoResponseYet + "; the data shown"} {
		s.hear(feed.News{Unreachable: &why})
		s.shows(want)
		s.hides("run `gcity`;")
	}
}

// Without a supervisor, a room that runs its city explains how to hand the city over.
func TestHowAHostedCityGetsToTheSupervisor(t *testing.T) {
	s := demo(t, 80, 24)
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("@", "h", "o", "w", "enter")
	s.shows("Quit it with q and b; then `gcity start`")
	s = newStage(t, Options{Mode: state.Joined})
	s.size(80, 24)
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("@", "h", "o", "w", "enter")
	s.hides("Quit it with")
	s.shows("`gcity start` in this city's folder hands it over")
}

// If another known city has the same name, the header, the list of cities and the questions also show the folder.
func TestTwoCitiesOfTheSameName(t *testing.T) {
	for _, w := range []int{80, 200} {
		s := among(t, w, 24)
		f := demoFleet(epoch)
		f.Rows[0].Info.Path = "/srv/harbourside/lights"
		f.Rows = append(f.Rows, f.Rows[0])
		other := &f.Rows[len(f.Rows)-1]
		other.Info.Name, other.Info.Path = "bright-lights-2", "/srv/hillside/lights"
		fleet.Distinguish(f.Rows)
		s.m.Folder, s.m.HomeFolder = "/srv/harbourside/lights", "/srv/harbourside/lights"
		s.hear(feed.News{Fleet: f})
		title := map[int]string{80: " bright-lights (harboursi…) ", 200: " bright-lights (harbourside) "}[w]
		s.shows(title, "4 running")
		s.press("@")
		s.shows("◆ bright-lights (harbourside) ", "  bright-lights (hillside) ")
		s.hides("bright-lights-2")
		s.press("esc")
		// the room of a city that was opened from the list has the same name as one that was opened in its folder
		s.m.At, s.m.OpenedAs, s.m.Folder, s.m.HomeFolder = "bright-lights-2", "bright-lights-2", "/srv/hillside/lights", ""
		s.hear(feed.News{Fleet: f})
		s.shows(map[int]string{80: " bright-lights (hillside) ", 200: " bright-lights (hillside) "}[w])
		s.press("@")
		s.shows("  bright-lights (harbourside) ", "◆ bright-lights (hillside) ")
		s.hides("bright-lights-2")
		text := strings.Join(f.Details(f.Find("bright-lights-2"), "", &s.m.Look, epoch), "\n")
		if strings.Count(text, "bright-lights-2") != 1 || !strings.Contains(text, "listed as") {
			t.Errorf("the details do not name the listed name once:\n%s", text)
		}
	}
}

// Questions name the folder of a city too if another known city has the same name.
func TestQuestionsNameTheFolder(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := among(t, size[0], size[1])
		f := demoFleet(epoch)
		f.Rows[0].Info.Path = "/srv/harbourside/lights"
		f.Rows = append(f.Rows, f.Rows[0])
		other := &f.Rows[len(f.Rows)-1]
		other.Info.Name, other.Info.Path = "bright-lights-2", "/srv/hillside/lights"
		fleet.Distinguish(f.Rows)
		s.m.Home, s.m.HomeFolder, s.m.HostsHome = "bright-lights", "/srv/harbourside/lights", true
		s.m.At, s.m.OpenedAs, s.m.Folder = "bright-lights-2", "bright-lights-2", "/srv/hillside/lights"
		s.hear(feed.News{Fleet: f})
		s.press("q")
		s.shows("Quit bright-lights (harbourside)?")
		text := strings.Join(s.m.Dialogs.Choice().Body, " ")
		if want := "Only bright-lights (harbourside) runs in this control room's program. " +
			"The city bright-lights (hillside) keeps running."; !strings.HasPrefix(text, want) {
			t.Errorf("the question says %q", text)
		}
		s.press("esc")
		s.line("details city", "enter")
		s.shows("━ bright-lights (hillside) ━")
		s.press("esc", "@")
		s.typeIn("harbourside")
		s.press("enter")
		s.shows("switching to bright-lights (harbourside)")
		s.press("esc")
		s.m.Mode, s.m.Fleet.Unmaintained = state.Hosting, true
		if text := strings.Join(state.NoDirectory(s.m), " "); !strings.Contains(text, "runs bright-lights (hillside).") {
			t.Errorf("the explanation says %q", text)
		}
		s.m.Mode, s.m.Fleet.Unmaintained = state.Joined, false
		s.line("city.suspend", "enter")
		s.shows("Suspend bright-lights (hillside)?")
		s.press("esc")
		s.change(func(n *city.Snapshot) { n.Suspended = true })
		s.agent("shop/writer", func(a *city.Agent) { a.Reason, a.SuspendedBy = "with the city", city.CityLevel })
		s.choose("shop/writer")
		s.press("s")
		s.shows("Resume bright-lights (hillside)?")
		s.press("esc")
		s.change(func(n *city.Snapshot) { n.Agents = nil })
		s.press("x")
		s.shows("Actions for bright-lights (hillside) ━")
	}
}

// A list that the room itself has read also shows the folders.
func TestAListThatWasReadShowsFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	d := citytest.NewDirectory()
	d.Add("demo", "/srv/east/demo", citytest.NewFake("demo"))
	d.Add("demo-2", "/srv/west/demo", citytest.NewFake("demo"))
	c := inHouse(t, Options{Cities: d, Mode: state.Joined})
	c.sees("demo (east)")
	c.sees("demo (west)")
}

// A city that is not registered can have the same name as a listed one.
func TestAnUnlistedCityShowsItsFolder(t *testing.T) {
	s := among(t, 120, 24)
	f := demoFleet(epoch)
	f.Rows = f.Rows[:1]
	f.Rows[0].Info.Path = "/srv/hillside/lights"
	s.m.Folder, s.m.HomeFolder = "/srv/harbourside/lights", "/srv/harbourside/lights"
	s.hear(feed.News{Fleet: f})
	s.press("@")
	s.shows("bright-lights (harbourside) ", "bright-lights (hillside) ")
	s.press("esc")
	s.m.Home, s.m.At, s.m.Folder = "bright-lights", "bright-lights", "/srv/hillside/lights"
	s.hear(feed.News{Fleet: f})
	s.press("@")
	s.typeIn("harbourside")
	s.press("enter")
	s.shows("switching to bright-lights (harbourside)")
}

// The list of cities shows complete counts, even next to a long reason on a narrow screen.
func TestTheListShowsTheCounts(t *testing.T) {
	s := among(t, 80, 24)
	s.press("@")
	s.shows("! silent     5/6 up ", "! trouble    4/12 up ", "! trouble    3/3 up ")
}
