package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/city/citytest"
)

// demoFleet is a list of cities of many kinds.
func demoFleet(now time.Time) *fleet {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	again := now.Add(8 * time.Second)
	f := &fleet{}
	add := func(name string, status city.Condition, b brief) *sister {
		f.rows = append(f.rows, sister{shown: name, known: true, brief: b,
			info: city.Info{Name: name, Path: "/srv/" + name, Running: status == city.CityRunning || status == city.CityPaused, Status: status, Since: ago(3 * time.Hour)}})
		return &f.rows[len(f.rows)-1]
	}
	add("bright-lights", city.CityRunning, briefOf(demoSnapshot(now), now))
	c := add("delta", city.CityCrashed, brief{agents: 4, running: 4})
	c.info.Error, c.info.Until, c.info.Crashes, c.heard = "its loop panicked: index out of range; gcity supervisor logs has the stack", &again, 3, ago(12*time.Second)
	add("harbour", city.CityRunning, brief{agents: 8, running: 8, open: 12, begun: 5, unread: 2})
	c = add("marsh", city.CityRunning, brief{agents: 6, running: 5, held: 1, needs: []need{
		{agent: "pump", shown: "pump", state: city.Quarantined, why: "crashed 6× in 4m0s, the last: exit 3", since: ago(4 * time.Minute), until: now.Add(54 * time.Minute)}}})
	c.mute, c.heard = "no answer within 2s", ago(95*time.Second)
	add("orchard", city.CityRunning, brief{agents: 3, running: 3, problems: []string{"config refused: city.toml:12:3: there is no key comand; did you mean command?"}})
	c = add("quarry", city.CityRefused, brief{})
	c.info.Error, c.known = "/srv/quarry/city.toml does not exist; gcity unregister quarry forgets it", false
	add("sleepy", city.CityPaused, brief{agents: 5, suspended: true})
	add("tower", city.CityStopped, brief{})
	return f
}

// lobby is a stage that shows all cities.
func lobby(t testing.TB, w, h int, o Options) *stage {
	o.Cities = citytest.NewMachine()
	if o.Mode == Hosting {
		o.Mode = Joined
	}
	s := newStage(t, o)
	s.m.lobby, s.m.all = true, true
	s.size(w, h)
	s.hear(news{fleet: demoFleet(epoch)})
	return s
}

// among is a stage in a city that others are beside.
func among(t testing.TB, w, h int) *stage {
	s := newStage(t, Options{Cities: citytest.NewMachine(), Mode: Joined, Folder: "/srv/bright-lights"})
	s.m.folder, s.m.homeAt = "/srv/bright-lights", "/srv/bright-lights"
	s.size(w, h)
	s.hear(news{snap: demoSnapshot(epoch), events: demoEvents(epoch), fleet: demoFleet(epoch)})
	return s
}

// sail puts the cursor of all cities on one.
func (s *stage) sail(name string) {
	s.t.Helper()
	s.press("g")
	for range len(s.m.cities.Rows) {
		if s.m.cities.Chosen == name {
			return
		}
		s.press("j")
	}
	if s.m.cities.Chosen != name {
		s.t.Fatalf("%s cannot be reached, the cursor is on %s", name, s.m.cities.Chosen)
	}
}
