package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gcity/city"
)

func withPools(s *city.Snapshot) {
	ago := func(d time.Duration) *time.Time { at := epoch.Add(-d); return &at }
	in := func(d time.Duration) *time.Time { at := epoch.Add(d); return &at }
	four := 4
	s.Pools = []city.Pool{
		{Name: "batch", Min: 0, Max: 8, Size: 3, Desired: 4, Reason: "override by operator", Since: *ago(8 * time.Second), Override: &four,
			Check: city.Check{Command: "cat jobs/wanted", At: ago(8 * time.Second), Took: 12 * time.Millisecond, Value: 2,
				Good: ago(8 * time.Second), Output: "2"}, Timeout: 5 * time.Minute, Source: "city.toml:120:1"},
		{Name: "merge", Min: 0, Max: 1, Size: 1, Desired: 1, Reason: "5 open", Since: *ago(2 * time.Hour),
			Check: city.Check{At: ago(8 * time.Second), Value: 5, Good: ago(8 * time.Second)}, Source: "city.toml:140:1"},
		{Name: "shop/tester", Rig: "shop", Min: 0, Max: 4, Suspended: true, SuspendedReason: "with rig shop", SuspendedBy: city.RigLevel, Reason: "suspended with rig shop",
			Since: *ago(48 * time.Hour), Check: city.Check{Command: "make -s count"}, Source: "city.toml:160:1"},
		{Name: "triage", Min: 1, Max: 3, Size: 1, Desired: 1, Reason: "check returned 1", Since: *ago(3 * time.Hour),
			Check: city.Check{Command: "./queue.sh --count", Running: ago(3 * time.Second), At: ago(8 * time.Second), Took: 40 * time.Millisecond,
				Value: 1, Good: ago(11 * time.Minute), Problem: "exit 3", Output: "queue.sh: no such table: jobs\nqueue.sh: giving up"},
			Timeout: time.Minute, Source: "city.toml:180:1"},
		{Name: "worker", Description: "takes what comes", Min: 1, Max: 5, Size: 2, Desired: 2, Reason: "check returned 2", Since: *ago(48 * time.Second),
			Draining: []string{"worker-3"}, Check: city.Check{Command: "cat wanted", At: ago(8 * time.Second), Took: 9 * time.Millisecond,
				Value: 2, Good: ago(8 * time.Second), Output: "2"}, Timeout: 2 * time.Minute, Source: "city.toml:200:1",
			Decisions: []city.Decision{
				{At: *ago(26 * time.Hour), What: "scale", Why: "check returned 3"},
				{At: *ago(48 * time.Second), What: "scale", Why: "check returned 2: worker-3 drains"}},
			Next: &city.Next{At: in(22 * time.Second), What: "the check runs"}},
	}
	member := func(pool string, i int, state city.State, since time.Duration, reason string) *city.Agent {
		n := len(s.Agents)
		s.Agents = append(s.Agents, city.Agent{Name: fmt.Sprintf("%s-%d", pool, i), Pool: pool, State: state, Reason: reason,
			Since: *ago(since), Running: true, PID: 6000 + n, Available: true, Declaration: city.Declaration{Source: "city.toml:200:1", Command: "./worker.sh", Dir: "/srv/bright-lights"},
			Session: &city.Session{ID: fmt.Sprintf("%s-%d-1", pool, i), Started: *ago(since), LastActivity: ago(time.Second)},
			Usage:   &city.Usage{CPU: float64(n), RSS: int64(n) << 23, Procs: 2}})
		return &s.Agents[n]
	}
	for i := range 3 {
		member("batch", i+1, city.Running, 8*time.Minute, "ready at once")
	}
	member("batch", 4, city.Starting, 2*time.Second, "pre_start")
	merge := member("merge", 1, city.Running, 2*time.Hour, "ready at once")
	merge.Name = "merge"
	member("triage", 1, city.Running, 3*time.Hour, "ready at once")
	member("worker", 1, city.Running, 22*time.Minute, "gc-214 fix the flaky retry test")
	member("worker", 2, city.Running, 22*time.Minute, "gc-219 document the provider")
	leaving := member("worker", 3, city.Draining, 48*time.Second, "pool scaled 3 to 2")
	leaving.Until = in(72 * time.Second)
	leaving.Refusal = city.Refusal{NoRestart: "pool worker wants 2 members, so worker-3 cannot restart; scale the pool up first",
		Surplus: true}
	leaving.Drain = &city.DrainInfo{Since: *ago(48 * time.Second), Deadline: leaving.Until, By: "pool"}
	leaving.Next = &city.Next{At: leaving.Until, What: "is killed if still running"}
	s.Rigs = []city.Rig{
		{Name: "attic", Path: "/srv/attic", Prefix: "at", Problem: "its folder does not exist", Source: "city.toml:9:1"},
		{Name: "shop", Path: "/srv/shop", Prefix: "sh", Suspended: true, Agents: 2, Running: 1, Source: "city.toml:5:1"},
	}
	for i := range s.Agents {
		switch a := &s.Agents[i]; a.Name {
		case "shop/reviewer", "shop/writer":
			a.Rig = "shop"
		case "zeta":
			a.DependsOn = []string{"builder", "shop/reviewer", "worker"}
			a.Next = &city.Next{What: "starts when its dependencies are running"}
		case "idle":
			a.IdleTimeout = 30 * time.Minute
			a.Session.LastActivity = ago(29*time.Minute + 20*time.Second)
		}
	}
	slices.SortFunc(s.Agents, func(a, b city.Agent) int { return cmpName(a.Name, b.Name) })
}

func pooled(t testing.TB, w, h int) *stage {
	s := demo(t, w, h)
	s.change(withPools)
	return s
}
