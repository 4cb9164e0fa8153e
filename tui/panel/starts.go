package panel

import (
	"time"

	"gcity/city"
)

// Starts maps each agent that an action starts to the time of its last exit before the action.
type Starts map[string]time.Time

// StartsOf returns the agents that commands start.
func StartsOf(all *Agents, commands []city.Command) Starts {
	s := Starts{}
	for _, c := range commands {
		switch c.(type) {
		case city.Restart, city.Release, city.Resume, city.Kill:
			if r := all.Find(c.Target()); r != nil {
				s[r.Name] = r.exited()
			}
		}
	}
	return s
}

// exited returns the time of the agent's last exit, or the zero time if it is unknown.
func (r *AgentRow) exited() time.Time {
	if r.Exit == nil {
		return time.Time{}
	}
	return r.Exit.At
}

// Crashed returns a message about an agent that was started and has crashed since, or "".
func (s Starts) Crashed(all *Agents) string {
	for i := range all.Rows {
		r := &all.Rows[i]
		before, ok := s[r.Name]
		if !ok || r.exited().Equal(before) {
			continue
		}
		switch r.State {
		case city.Backoff, city.Quarantined, city.Failed:
			return r.Shown + " crashed again: " + LastExit(r.Exit) + "; it is " + r.State.Is()
		}
	}
	return ""
}
