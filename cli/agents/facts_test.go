package agents

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
)

// A decision is separated from its reason, also if its name is long.
func TestRecentDecisions(t *testing.T) {
	var out strings.Builder
	e := &env.Env{Printer: output.Printer{Out: &out, Now: func() time.Time { return noon }}}
	writeRecent(e, []city.Decision{{At: noon, What: "start", Why: "declared"},
		{At: noon, What: city.CannotStart, Why: "no program"},
		{At: noon, What: "check failed", Why: "the check printed nothing"}}, nil)
	for _, want := range []string{"  start         declared\n", "  cannot start  no program\n",
		"  check         printed nothing\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}

// Without a controller, a drain can last longer than its deadline.
func TestDrainDeadlineHasPassed(t *testing.T) {
	e := &env.Env{Printer: output.Printer{Now: func() time.Time { return noon }}}
	for left, want := range map[time.Duration]string{time.Minute: "in 1m", -time.Second: "has passed"} {
		by := noon.Add(left)
		if got := draining(e, &city.DrainInfo{By: "pool", Since: noon, Deadline: &by}); !strings.Contains(got, want) {
			t.Errorf("deadline in %s: got %q", left, got)
		}
	}
}

// A restart that is held back is not announced.
func TestIdleRestart(t *testing.T) {
	e := &env.Env{Printer: output.Printer{Now: func() time.Time { return noon }}}
	active := noon.Add(-20 * time.Minute)
	a := city.Agent{State: city.Running, Session: &city.Session{LastActivity: &active}}
	for _, c := range []struct {
		timeout time.Duration
		change  func(*city.Agent)
		want    bool
	}{
		{30 * time.Minute, func(*city.Agent) {}, true},
		{10 * time.Minute, func(*city.Agent) {}, false},
		{30 * time.Minute, func(a *city.Agent) { a.State = city.Draining }, false},
		{30 * time.Minute, func(a *city.Agent) { a.Frozen = true }, false},
	} {
		g := a
		g.IdleTimeout = c.timeout
		c.change(&g)
		if got := idle(e, &g); strings.Contains(got, "will restart") != c.want || !strings.Contains(got, "last activity 20m ago") {
			t.Errorf("%s, %s: %s", c.timeout, g.State, got)
		}
	}
}

// While an agent stops for a change, its restart is no longer held back.
func TestDriftOfStoppingAgent(t *testing.T) {
	e := &env.Env{Printer: output.Printer{Now: func() time.Time { return noon }}}
	for state, want := range map[city.State]string{city.Stopping: "changed", city.Running: "changed · restart held back: env A added"} {
		if got := stateReason(e, &city.Agent{State: state, Reason: "changed", Drift: []string{"env A added"}}); got != want {
			t.Errorf("%s: got %q", state, got)
		}
	}
}
