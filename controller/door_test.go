package controller

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// Where a city is to listen is asked for once, when it is news; what becomes of that is shown.
func TestDoor(t *testing.T) {
	m, now := newMachine(), time.Now()
	asked := func(in effect.Input) (all []config.API) {
		for _, f := range m.step(now, in) {
			if d, ok := f.(effect.Listen); ok {
				all = append(all, d.Want)
			}
		}
		return all
	}
	some := config.API{Port: 8080, Bind: "127.0.0.1", Hosts: []string{"a"}}
	with := func(revision string, api config.API) effect.Input {
		return effect.Loaded{Revision: revision, Conf: &effect.Configuration{Name: "app", Revision: revision, API: api}}
	}
	asked(with("1", config.API{})) // before the first turn, as New does it
	if got := asked(effect.Tick{}); len(got) != 0 {
		t.Errorf("nothing is wanted, and asked for was %+v", got)
	}
	m.step(now, effect.Listed{})
	if got := asked(with("2", some)); len(got) != 1 || got[0].Port != 8080 {
		t.Errorf("asked for %+v", got)
	}
	if got := append(asked(with("3", some)), asked(effect.Tick{})...); len(got) != 0 {
		t.Errorf("asked again for %+v", got)
	}
	m.changed = false
	m.step(now, effect.ListenerChanged{Door: city.Door{Problem: "taken"}})
	if s := m.snapshot(now); !m.changed || s.API != "" || len(s.Degraded) != 1 || s.Degraded[0] != "taken" {
		t.Errorf("%v %q %q", m.changed, s.API, s.Degraded)
	}
	m.step(now, effect.ListenerChanged{Door: city.Door{Address: "127.0.0.1:8080"}})
	if s := m.snapshot(now); s.API != "127.0.0.1:8080" || len(s.Degraded) != 0 {
		t.Errorf("%q %q", s.API, s.Degraded)
	}
	if got := asked(with("4", config.API{})); len(got) != 1 || got[0].Port != 0 {
		t.Errorf("asked for %+v", got)
	}
}

// The first turn asks for what the first configuration says.
func TestDoorAtStart(t *testing.T) {
	m, now := newMachine(), time.Now()
	m.step(now, effect.Loaded{Revision: "1", Conf: &effect.Configuration{Name: "app", Revision: "1", API: config.API{Port: 1}}})
	asked := 0
	for range 3 {
		for _, f := range m.step(now, effect.Tick{}) {
			if _, ok := f.(effect.Listen); ok {
				asked++
			}
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// Under a supervisor no city listens: what its file says of that is ignored, which is said once, and shown.
func TestSupervisedCityDoesNotListen(t *testing.T) {
	var logs strings.Builder
	logger := slog.New(slog.NewTextHandler(&logs, nil))
	for _, c := range []struct {
		mode   string
		port   int
		warned bool
	}{{Supervised, 8080, true}, {Supervised, 0, false}, {"headless", 8080, false}} {
		logs.Reset()
		ctl := &Controller{o: Options{Mode: c.mode, Dir: t.TempDir(), Logger: logger}}
		cfg := &config.City{Workspace: config.Workspace{Name: "X"}, API: config.API{Port: c.port}}
		const want = "city 'X' has [api] port=8080 which is ignored under supervisor mode"
		for range 3 {
			got := ctl.translate(cfg)
			if listens := got.API.Port != 0; listens != (c.port != 0 && !c.warned) || slices.Contains(got.Warnings, want) != c.warned {
				t.Errorf("%+v: %+v, %q", c, got.API, got.Warnings)
			}
		}
		if n := strings.Count(logs.String(), want); n != 1 && c.warned || n != 0 && !c.warned {
			t.Errorf("%+v: logged %d times:\n%s", c, n, &logs)
		}
	}
}
