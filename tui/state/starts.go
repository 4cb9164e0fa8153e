package state

import (
	"time"

	"gcity/city"
	"gcity/tui/panel"
)

// Starts contains the agents that an action starts, each with the time of its last exit before the action.
type Starts map[string]time.Time

func startsOf(all *panel.Agents, commands []city.Command) Starts {
	s := Starts{}
	for _, c := range commands {
		switch c.(type) {
		case city.Restart, city.Release, city.Resume, city.Kill:
			if r := all.Find(c.Target()); r != nil {
				s[r.Name] = exited(r)
			}
		}
	}
	return s
}

func exited(r *panel.AgentRow) time.Time {
	if r.Exit == nil {
		return time.Time{}
	}
	return r.Exit.At
}

// Crashed returns a message about an agent that was started and has since crashed, or "".
func (s Starts) Crashed(all *panel.Agents) string {
	for r := range all.All() {
		before, ok := s[r.Name]
		if !ok || exited(r).Equal(before) {
			continue
		}
		switch r.State {
		case city.Backoff, city.Quarantined, city.Failed:
			return r.Shown + " crashed again: " + panel.LastExit(r.Exit) + "; it " + r.State.Is()
		}
	}
	return ""
}
