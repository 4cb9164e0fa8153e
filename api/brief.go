package api

import (
	"gcity/api/wire"
	"gcity/city"
)

// Brief returns only those parts of a snapshot that `gcity status` and StatusOf use.
func Brief(full *city.Snapshot) *city.Snapshot {
	s := *full
	s.Agents = make([]city.Agent, len(full.Agents))
	for i := range full.Agents {
		s.Agents[i] = briefAgent(&full.Agents[i])
	}
	s.Automations = make([]city.Automation, len(full.Automations))
	for i := range full.Automations {
		a := &full.Automations[i]
		s.Automations[i] = city.Automation{Name: a.Name, State: a.State, Failures: a.Failures}
		if a.State == city.AutomationBroken {
			s.Automations[i].Reason = a.Reason
		}
	}
	return &s
}

func briefAgent(g *city.Agent) city.Agent {
	out := city.Agent{
		Name: g.Name, Description: g.Description, Pool: g.Pool,
		Declaration: city.Declaration{Source: g.Source},
		State:       g.State, Reason: g.Reason, Since: g.Since, Until: g.Until, Running: g.Running,
		PID: g.PID, Frozen: g.Frozen, Restarts: g.Restarts, Drift: g.Drift, Drain: g.Drain,
		Usage: g.Usage, Workload: city.Workload{AwaitsGate: g.AwaitsGate},
		Blocker: g.Blocker,
	}
	if g.Session != nil && g.Session.Attached {
		out.Session = &city.Session{Attached: true}
	}
	return out
}

func snapshot(q *query) (any, error) {
	switch view := q.URL.Query().Get("view"); view {
	case "":
		return q.snap, nil
	case wire.StatusView:
		return Brief(q.snap), nil
	default:
		return nil, wire.Invalid("view=%.40q is invalid: use %q, or omit view", view,
			wire.StatusView)
	}
}
