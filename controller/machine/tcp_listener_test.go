package machine

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// A listener is requested only when its address changes. The result is shown.
func TestEntry(t *testing.T) {
	m, now := newMachine(), time.Now()
	asked := func(in effect.Input) (all []config.API) {
		for _, f := range m.Step(now, in) {
			if d, ok := f.(effect.Listen); ok {
				all = append(all, d.Want)
			}
		}
		return all
	}
	some := config.API{Port: 8080, Bind: "127.0.0.1", Hosts: []string{"a"}}
	with := func(revision string, api config.API) effect.Input {
		return effect.Loaded{Revision: revision,
			Conf: &effect.Configuration{Name: "app", Revision: revision, API: api}}
	}
	asked(with("1", config.API{})) // before the first step, as in New
	if got := asked(effect.Tick{}); len(got) != 0 {
		t.Errorf("nothing is wanted, and asked for was %+v", got)
	}
	m.Step(now, effect.Listed{})
	if got := asked(with("2", some)); len(got) != 1 || got[0].Port != 8080 {
		t.Errorf("asked for %+v", got)
	}
	if got := append(asked(with("3", some)), asked(effect.Tick{})...); len(got) != 0 {
		t.Errorf("asked again for %+v", got)
	}
	m.step.Changed = false
	m.Step(now, effect.ListenerChanged{Listener: city.Listener{Problem: "taken"}})
	if s := m.Snapshot(now); !m.step.Changed || s.API != "" || len(s.Degraded) != 1 ||
		s.Degraded[0] != "taken" {
		t.Errorf("%v %q %q", m.step.Changed, s.API, s.Degraded)
	}
	m.Step(now, effect.ListenerChanged{Listener: city.Listener{Address: "127.0.0.1:8080"}})
	if s := m.Snapshot(now); s.API != "127.0.0.1:8080" || len(s.Degraded) != 0 {
		t.Errorf("%q %q", s.API, s.Degraded)
	}
	if got := asked(with("4", config.API{})); len(got) != 1 || got[0].Port != 0 {
		t.Errorf("asked for %+v", got)
	}
}

// The first step requests the listener of the first configuration.
func TestDoorAtStart(t *testing.T) {
	m, now := newMachine(), time.Now()
	m.Step(now, effect.Loaded{Revision: "1", Conf: &effect.Configuration{Name: "app", Revision: "1",
		API: config.API{Port: 1}}})
	asked := 0
	for range 3 {
		for _, f := range m.Step(now, effect.Tick{}) {
			if _, ok := f.(effect.Listen); ok {
				asked++
			}
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
