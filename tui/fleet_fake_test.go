package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/state"
)

func demoFleet(now time.Time) *fleet.List {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	again := now.Add(8 * time.Second)
	f := &fleet.List{}
	add := func(name string, status city.Condition, b fleet.Summary) *fleet.City {
		f.Rows = append(f.Rows, fleet.City{DisplayName: name, Responded: true, Summary: b,
			Info: city.Info{Name: name, Path: "/srv/" + name, Running: status == city.CityRunning || status == city.CitySuspended, Status: status, Since: ago(3 * time.Hour)}})
		return &f.Rows[len(f.Rows)-1]
	}
	add("bright-lights", city.CityRunning, fleet.Summarize(demoSnapshot(now), now))
	c := add("delta", city.CityCrashed, fleet.Summary{Agents: 4, Running: 4})
	c.Info.Error, c.Info.Until, c.Info.Crashes, c.LastResponse = "its loop panicked: index out of range; gcity supervisor logs has the stack", &again, 3, ago(12*time.Second)
	add("harbour", city.CityRunning, fleet.Summary{Agents: 8, Running: 8, Open: 12, InProgress: 5, Unread: 2})
	c = add("marsh", city.CityRunning, fleet.Summary{Agents: 6, Running: 5, Held: 1, Needs: []fleet.Need{
		{Agent: "pump", DisplayName: "pump", State: city.Quarantined, Why: "crashed 6× in 4m, last: exit 3", Since: ago(4 * time.Minute), Until: now.Add(54 * time.Minute)}}})
	c.Unresponsive, c.LastResponse = "no response within 2s", ago(95*time.Second)
	add("orchard", city.CityRunning, fleet.Summary{Agents: 3, Running: 3, Problems: []string{"configuration rejected: city.toml:12:3: there is no key comand; did you mean command?"}})
	c = add("quarry", city.CityRefused, fleet.Summary{})
	c.Info.Error, c.Responded = "/srv/quarry/city.toml does not exist; gcity unregister quarry forgets it", false
	add("sleepy", city.CitySuspended, fleet.Summary{Agents: 5, Suspended: true})
	add("tower", city.CityStopped, fleet.Summary{})
	return f
}

func lobby(t testing.TB, w, h int, o Options) *stage {
	o.Cities = citytest.NewDirectory()
	if o.Mode == state.Hosting {
		o.Mode = state.Joined
	}
	s := newStage(t, o)
	s.m.FleetRoom, s.m.All = true, true
	s.size(w, h)
	s.hear(feed.News{Fleet: demoFleet(epoch)})
	return s
}

func among(t testing.TB, w, h int) *stage {
	s := newStage(t, Options{Cities: citytest.NewDirectory(), Mode: state.Joined, Folder: "/srv/bright-lights"})
	s.m.Folder, s.m.HomeFolder = "/srv/bright-lights", "/srv/bright-lights"
	s.size(w, h)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch), Fleet: demoFleet(epoch)})
	return s
}

func (s *stage) sail(name string) {
	s.t.Helper()
	s.press("g")
	for range len(s.m.Cities.Rows) {
		if s.m.Cities.SelectedKey == name {
			return
		}
		s.press("j")
	}
	if s.m.Cities.SelectedKey != name {
		s.t.Fatalf("%s cannot be reached, the cursor is on %s", name, s.m.Cities.SelectedKey)
	}
}
