package details

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Suspendable is an agent or a whole pool that can be suspended in the configuration.
type Suspendable struct {
	Name, Shown string
	Pool        bool
	Rig         string
	Off         bool       // it is suspended
	By          city.Level // level of the setting that suspends it
}

// SuspendablePool returns a pool as an object that can be suspended.
func SuspendablePool(r *panel.PoolRow) Suspendable {
	return Suspendable{Name: r.Name, Shown: r.Shown, Pool: true, Rig: r.Rig, Off: r.Suspended != "",
		By: r.OffAt}
}

func (s *Suspendable) above() bool {
	return s.By == city.RigLevel || s.By == city.CityLevel
}

// SplitBySuspended splits objects into those to suspend and those to resume. It omits objects that their rig or city
// suspends.
func SplitBySuspended(all []Suspendable) (on, off []Suspendable) {
	for _, s := range all {
		switch {
		case !s.Off:
			on = append(on, s)
		case !s.above():
			off = append(off, s)
		}
	}
	return on, off
}

// NameAll returns text that names objects: "builder", "pool worker", "2 agents and 1 pool", "2 marked agents".
func NameAll(all []Suspendable, marked bool) string {
	pools, adjective := 0, ""
	if marked {
		adjective = "marked "
	}
	for _, s := range all {
		if s.Pool {
			pools++
		}
	}
	agents := len(all) - pools
	switch {
	case len(all) == 1 && pools == 1:
		return adjective + "pool " + all[0].Shown
	case len(all) == 1 && marked:
		return "marked agent " + all[0].Shown
	case len(all) == 1:
		return all[0].Shown
	case pools == 0:
		return widget.Count(agents, adjective+"agent")
	case agents == 0:
		return widget.Count(pools, adjective+"pool")
	}
	return widget.Count(agents, adjective+"agent") + " and " + widget.Count(pools, "pool")
}

// ListAll returns the names of objects, separated by commas.
func ListAll(all []Suspendable) string {
	each := make([]string, len(all))
	for i := range all {
		each[i] = NameAll(all[i:i+1], false)
	}
	return strings.Join(each, ", ")
}

// Suspendables returns the objects to suspend for the given agents. If an agent's pool can have several members, the
// object is the pool, otherwise the agent.
func Suspendables(l *panel.Lists, rows []*panel.AgentRow) []Suspendable {
	var all []Suspendable
	seen := map[string]bool{}
	for _, r := range rows {
		s := Suspendable{Name: r.Name, Shown: r.Shown, Rig: r.Rig,
			Off: r.IsSuspended(), By: r.OffAt}
		if p := l.Pools.Find(r.Pool); p != nil && p.Max > 1 {
			s = SuspendablePool(p)
		}
		if !seen[s.Name] {
			seen[s.Name] = true
			all = append(all, s)
		}
	}
	return all
}

// StoppingSessions returns how many sessions would stop if the objects were suspended.
func StoppingSessions(l *panel.Lists, all []Suspendable) int {
	n := 0
	for _, s := range all {
		if !s.Pool {
			if r := l.Agents.Find(s.Name); r != nil && r.Running {
				n++
			}
			continue
		}
		for _, r := range l.Pools.Members(s.Name) {
			if r.Running || r.State == city.Starting {
				n++
			}
		}
	}
	return n
}

// Suspends returns the number that the user must type before many objects are suspended, and what the number counts.
func Suspends(l *panel.Lists, all []Suspendable) (n int, of string) {
	switch n = StoppingSessions(l, all); {
	case n >= len(all):
		return n, "sessions that stop"
	case !slices.ContainsFunc(all, func(s Suspendable) bool { return !s.Pool }):
		return len(all), "pools"
	case slices.ContainsFunc(all, func(s Suspendable) bool { return s.Pool }):
		return len(all), "agents and pools"
	}
	return len(all), "agents"
}

// AlreadySuspended returns a line with the number of objects that are already suspended, if there are any.
func AlreadySuspended(all, on []Suspendable) []string {
	switch n := len(all) - len(on); n {
	case 0:
		return nil
	case 1:
		return []string{"1 other is already suspended and stays suspended."}
	default:
		return []string{fmt.Sprintf("%d others are already suspended and stay suspended.", n)}
	}
}
