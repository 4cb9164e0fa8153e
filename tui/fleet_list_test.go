package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/fleet"
)

// A key that applies to a whole city is refused while the cursor is on one of the city's agents.
func TestFleetVerbsOfCitiesAreNotForAgents(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	s.press("tab")
	for _, key := range []string{"s", "R", "ctrl+k"} {
		if s.press(key); s.m.Dialogs.Choice() != nil ||
			!strings.Contains(s.m.Status.Text, "the cursor is on an agent") {
			t.Fatalf("%s: %q", key, s.m.Status.Text)
		}
		s.press("esc")
		if !s.m.OnNeeds {
			t.Fatalf("%s moves the cursor away from the agents", key)
		}
	}
	s.press("tab")
	s.sail("harbour")
	if s.press("s"); s.m.Dialogs.Choice() == nil ||
		!strings.Contains(s.m.Dialogs.Choice().Title, "harbour") {
		t.Errorf("%+v", s.m.Dialogs.Choice())
	}
}

// If no agent needs attention, pressing the key that goes to such agents shows a message.
func TestTabWithoutAnAgentThatNeedsAttention(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	quiet := demoFleet(epoch)
	for i := range quiet.Rows {
		quiet.Rows[i].Summary.Needs = nil
	}
	s.hear(feed.News{Fleet: quiet})
	s.press("tab")
	s.shows("no agent needs attention")
	s.hides("tab agents")
}

// If the list of all cities becomes unavailable, or available again, the room of a city shows a message.
func TestListThatComesAndGoes(t *testing.T) {
	s := among(t, 120, 40)
	none := &fleet.List{Problem: "no supervisor runs", Unmaintained: true}
	s.hear(feed.News{Fleet: none})
	s.press("@")
	if s.m.Dialogs.Finder() != nil || s.m.Dialogs.Reader() == nil || s.m.Directory {
		t.Fatalf("a list is shown although none is available")
	}
	s.press("esc")
	s.hear(feed.News{Fleet: demoFleet(epoch)})
	if !strings.Contains(s.m.Status.Text, "a supervisor is running now: @ switches between its cities") {
		t.Errorf("%q", s.m.Status.Text)
	}
	old := demoFleet(epoch)
	old.Problem = "the supervisor has stopped"
	s.hear(feed.News{Fleet: old})
	if !strings.Contains(s.m.Status.Text, "the supervisor has stopped") || !s.m.Status.Failed {
		t.Errorf("%q", s.m.Status.Text)
	}
	s.press("@")
	if s.m.Dialogs.Finder() == nil || !strings.Contains(s.m.Dialogs.Finder().Title,
		"(outdated): the supervisor has stopped") {
		t.Errorf("%+v", s.m.Dialogs.Finder())
	}
	s.press("esc")
	s.hear(feed.News{Fleet: demoFleet(epoch)})
	if s.m.Status.Failed || !strings.Contains(s.m.Status.Text, "is available again") {
		t.Errorf("%q", s.m.Status.Text)
	}
}

// A click on a title or on a column heading does not move the cursor.
func TestClickOnATitleOfTheFleet(t *testing.T) {
	s := lobby(t, 120, 40, Options{})
	f := demoFleet(epoch)
	for i := range 60 {
		name := fmt.Sprintf("town-%02d", i)
		f.Rows = append(f.Rows, fleet.City{DisplayName: name, Responded: true, Summary: fleet.Summary{Agents: 1, Held: 1, Needs: []fleet.Need{{Agent: "a", DisplayName: "a", State: city.Quarantined, Why: "crashed"}}},
			Info: city.Info{Name: name, Path: "/srv/" + name, Running: true, Status: city.CityRunning}})
	}
	s.hear(feed.News{Fleet: f})
	s.press("G", "tab", "G")
	for _, title := range []string{"Agents that need attention", "Cities 68", "health", "all cities"} {
		s.m.OnNeeds = true
		city, need := s.m.Cities.SelectedKey, s.m.NeedCursor
		s.click(title)
		if s.m.Cities.SelectedKey != city || s.m.NeedCursor != need {
			t.Errorf("a click on %q changed %s, %d to %s, %d",
				title, city, need, s.m.Cities.SelectedKey, s.m.NeedCursor)
		}
	}
}

// In the all-cities room, a note explains that a key does nothing.
func TestKeysThatDoNothingAmongAllCities(t *testing.T) {
	s := lobby(t, 80, 24, Options{})
	s.press("~")
	s.shows("\"~\" does nothing here; ? lists the keys")
	s.press("r")
	s.shows("\"r\" only works in a city (press enter): restart the agent or the pool")
	s.press("esc")
	s.hides("works in a city")
}

func TestDrainingAgentsAreNotCountedAsRunning(t *testing.T) {
	n := demoSnapshot(epoch)
	if got, want := fleet.Summarize(n, epoch).Running, n.Count()[city.Running]; got != want {
		t.Errorf("%d running, want %d", got, want)
	}
}

// In the all-cities room that was opened from a city, @ goes back to that city, whatever the cursor selects.
func TestAllCitiesGoBackToTheCity(t *testing.T) {
	s := lobby(t, 80, 24, Options{})
	s.hides("@ back")
	s.m.All, s.m.OpenedFrom = false, feed.SwitchCity{Name: "orchard", Path: "/srv/orchard"}
	s.sail("harbour")
	s.shows("@ back")
	s.press("@")
	if e, _ := effectOf[feed.SwitchCity](s); e.Name != "orchard" {
		t.Errorf("%+v", s.out)
	}
}

// The room requests the cities when the user opens the list, and every second while it is open.
func TestAnOpenListOfCitiesIsCurrent(t *testing.T) {
	for name, f := range map[string]*fleet.List{"several cities": unsupervisedFleet(), "no other city": {Unmaintained: true}} {
		s := among(t, 80, 24)
		s.m.Folder = "/srv/demo"
		s.hear(feed.News{Fleet: f})
		requested := func() bool { _, ok := effectOf[feed.RefreshCities](s); return ok }
		if s.wait(time.Second); requested() {
			t.Errorf("%s: the closed list is requested", name)
		}
		if s.press("@"); !requested() {
			t.Errorf("%s: @ shows an old list", name)
		}
		if s.wait(time.Second); !requested() {
			t.Errorf("%s: the open list becomes outdated", name)
		}
		if s.press("esc"); requested() {
			t.Errorf("%s: the closed list is requested", name)
		}
	}
}
