package machine

import (
	"slices"
	"testing"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/session"
)

// A machine in observation mode shows the city's state. It does not request starts, stops or checks.
func TestObservation(t *testing.T) {
	t0 := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stopped, ended := t0.Add(-time.Hour), t0.Add(-2*time.Hour)
	m := New(InitialState{Measures: true, Observes: &Observation{Stopped: stopped, Ends: map[string]time.Time{"off": ended}}})
	var conf effect.Configuration
	for _, name := range []string{"frozen", "off", "runs", "tmux"} {
		w := agent.Want{Name: name, Spec: session.Spec{Agent: name, Name: name, Provider: "pty"}}
		if name == "tmux" {
			w.Spec.Provider = "tmux"
		}
		conf.Wants = append(conf.Wants, w)
	}
	conf.Wants[1].Suspended = agent.Suspension{Where: "in city.toml"}
	var out []effect.Effect
	step := func(in effect.Input) { out = append(out, slices.Clone(m.Step(t0, in))...) }
	step(effect.Loaded{Revision: "r", Conf: &conf})
	step(effect.Tick{})
	alive := func(name string) session.Status {
		return session.Status{Name: name, Agent: name, ID: name, Provider: "pty", Alive: true, Ready: true, Started: ended}
	}
	frozen := alive("frozen")
	frozen.Silent = t0
	step(effect.Listed{Sessions: []session.Status{alive("runs"), frozen, alive("stray")},
		Err: &session.PartialError{Unknown: map[string]error{"tmux": session.ErrBusy}}})
	step(effect.SnapshotsWatched{})
	step(effect.Scanned{Catalog: automation.Catalog{Revision: "1", Automations: []automation.Definition{
		{Name: "tidy", Gate: automation.Cooldown, Interval: time.Minute}, {Name: "later", Gate: automation.Cooldown, Interval: time.Hour}}}})
	step(effect.RunsSwept{Runs: []city.Run{{ID: "x-2", Automation: "later", Opened: t0.Add(-time.Minute)}}})
	reasons := map[string]string{"tidy": "due: first run; no controller is running", "later": "idle: cooldown: 59m remaining; no controller is running"}
	for _, a := range m.Snapshot(t0).Automations {
		if got := string(a.State) + ": " + a.Reason; got != reasons[a.Name] {
			t.Errorf("%s is %s, want %s", a.Name, got, reasons[a.Name])
		}
	}
	for _, f := range out {
		switch f.(type) {
		case effect.Start, effect.Resume, effect.Stop, effect.Kill, effect.MarkDrain, effect.CheckPool, effect.OpenRun, effect.Run:
			t.Errorf("effect %T %+v", f, f)
		}
	}
	for _, want := range []struct {
		name  string
		state city.State
		since time.Time
	}{{"frozen", city.Unknown, ended}, {"off", city.Suspended, ended}, {"runs", city.Running, ended}, {"stray", city.Running, ended}, {"tmux", city.Unknown, stopped}} {
		a, ok := m.Snapshot(t0).Agent(want.name)
		if !ok || a.State != want.state || !a.Since.Equal(want.since) || a.Reason == "" || a.Next != nil || len(a.Decisions) > 0 {
			t.Errorf("%s: got %+v, want %s since %v", want.name, a, want.state, want.since)
		}
	}
}

// An agent without a session is stopped, not exited. If no controller has ever run, the agent has no start time.
func TestObservedAgentWithoutSession(t *testing.T) {
	t0 := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for stopped, why := range map[time.Time]string{
		{}: "no controller has started it yet", t0.Add(-time.Hour): "no controller is running",
	} {
		m := New(InitialState{Observes: &Observation{Stopped: stopped}})
		w := agent.Want{Name: "a", Spec: session.Spec{Agent: "a", Name: "a", Provider: "pty"}}
		m.Step(t0, effect.Loaded{Revision: "r", Conf: &effect.Configuration{Wants: []agent.Want{w}}})
		m.Step(t0, effect.Tick{})
		m.Step(t0, effect.Listed{})
		a, _ := m.Snapshot(t0).Agent("a")
		if a.State != city.Stopped || a.Reason != why || !a.Since.Equal(stopped) {
			t.Errorf("got %+v, want stopped since %v: %s", a, stopped, why)
		}
	}
}

// Without a controller, a drain is shown with its real start time, even if its timeout has passed.
func TestObservedDrainKeepsItsStart(t *testing.T) {
	t0 := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	since := t0.Add(-time.Hour)
	m := New(InitialState{Observes: &Observation{Stopped: since}})
	w := agent.Want{Name: "a", Spec: session.Spec{Agent: "a", Name: "a", Provider: "pty"}}
	m.Step(t0, effect.Loaded{Revision: "r", Conf: &effect.Configuration{Wants: []agent.Want{w}}})
	m.Step(t0, effect.Tick{})
	m.Step(t0, effect.Listed{Sessions: []session.Status{{Name: "a", Agent: "a", ID: "1", Provider: "pty", Alive: true,
		Ready: true, Started: since, Drain: session.Drain{Since: since, By: byOperator}}}})
	a, _ := m.Snapshot(t0).Agent("a")
	if a.State != city.Draining || !a.Since.Equal(since) || !a.Drain.Since.Equal(since) ||
		!a.Drain.Deadline.Equal(since.Add(drainTimeout)) {
		t.Errorf("got %+v, %+v, want since %v", a, a.Drain, since)
	}
}
