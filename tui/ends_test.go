package tui

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/panel"
)

// For every state that ends by itself, the screen says when and how it ends (L14).
func TestNextStepIsShown(t *testing.T) {
	in := func(d time.Duration) *time.Time { at := epoch.Add(d); return &at }
	life := func(quiet time.Duration) *city.Session { return &city.Session{LastActivity: in(-quiet)} }
	s := demo(t, 120, 40) // patrol_interval is 30s
	for _, c := range []struct {
		name        string
		agent       city.Agent
		full, brief string
	}{
		{"draining", city.Agent{State: city.Draining, Until: in(72 * time.Second), Drain: &city.DrainInfo{By: "pool"}},
			"kill in 1m12s if still running", "kill in 1m12s"},
		{"no deadline", city.Agent{State: city.Draining, Drain: &city.DrainInfo{By: "operator"}}, "no deadline", "no deadline"},
		{"acknowledged", city.Agent{State: city.Draining, Until: in(time.Second), Drain: &city.DrainInfo{Acked: true}},
			"reported done; its session is ending", "has finished"},
		{"stopping", city.Agent{State: city.Stopping, Until: in(4 * time.Second)}, "kill in 4s", "kill in 4s"},
		{"late", city.Agent{State: city.Stopping, Until: in(-time.Hour)}, "kill in 0s", "kill in 0s"},
		{"backoff", city.Agent{State: city.Backoff, Until: in(9 * time.Second)}, "restarts in 9s", "restarts in 9s"},
		{"quarantined", city.Agent{State: city.Quarantined, Until: in(time.Hour)}, "retries in 1h", "retries in 1h"},
		{"waiting", city.Agent{State: city.Waiting, Reason: "waits for db", Next: &city.Next{What: "started"}}, "", ""},
		{"known time", city.Agent{State: city.Waiting, Next: &city.Next{What: "is given up", At: in(time.Minute)}}, "is given up in 1m", "is given up in 1m"},
		{"idle soon", city.Agent{State: city.Running, Declaration: city.Declaration{IdleTimeout: 2 * time.Minute}, Session: life(80 * time.Second)},
			"restarts in 40s unless it prints something", "restarts in 40s"},
		{"idle restart held back", city.Agent{State: city.Running, Declaration: city.Declaration{IdleTimeout: time.Minute}, Session: life(80 * time.Second)}, "", ""},
		{"idle later", city.Agent{State: city.Running, Declaration: city.Declaration{IdleTimeout: 2 * time.Minute}, Session: life(50 * time.Second)}, "", ""},
		{"quiet since the patrol", city.Agent{State: city.Running, Declaration: city.Declaration{IdleTimeout: 45 * time.Second}, Session: life(33 * time.Second)}, "", ""},
		{"activity unknown", city.Agent{State: city.Running, Declaration: city.Declaration{IdleTimeout: time.Second}, Session: &city.Session{}}, "", ""},
		{"attached", city.Agent{State: city.Running, Declaration: city.Declaration{IdleTimeout: 2 * time.Minute},
			Session: &city.Session{Attached: true, LastActivity: in(-time.Hour)}}, "", ""},
		{"next is far", city.Agent{State: city.Running, Next: &city.Next{What: "restarts", At: in(time.Hour)}}, "", ""},
		{"next is near", city.Agent{State: city.Running, Next: &city.Next{What: "restarts unless it prints something", At: in(time.Second)}},
			"restarts in 1s unless it prints something", "restarts in 1s"},
	} {
		r := panel.NewAgentRow(&c.agent)
		got := r.NextChange(s.m.Env())
		if kills := strings.HasPrefix(c.brief, "kill"); got.Full != c.full || got.Brief != c.brief || kills && got.Least != c.brief {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// In a narrow row, the text about what happens next has a brief form.
func TestRowIsBrief(t *testing.T) {
	for _, c := range []struct {
		w        int
		yes, not string
	}{
		{160, "pool scaled 3 to 2 · kill in 1m12s if still running", "…"},
		{80, "pool scaled 3 to 2 · kill in 1m12s ", "if it does not"},
		{60, "kill in 1m12s ", "if it does"},
	} {
		s := demo(t, c.w, 24)
		s.change(func(n *city.Snapshot) {
			until := epoch.Add(72 * time.Second)
			n.Agents = []city.Agent{{Name: "worker-3", State: city.Draining, Reason: "pool scaled 3 to 2", Since: epoch, Until: &until, Running: true,
				Drain: &city.DrainInfo{By: "pool", Deadline: &until}}}
		})
		s.shows(c.yes)
		s.hides(c.not)
	}
}
