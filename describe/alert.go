package describe

import (
	"fmt"
	"iter"

	"gcity/city"
)

// Stuck is the state that alerts and counts use for a running agent that is stuck.
const Stuck city.State = "stuck"

// AlertState returns the state of an agent for alerts and counts.
func AlertState(s city.State, stuck *city.Stuck) city.State {
	if stuck != nil && s == city.Running {
		return Stuck
	}
	return s
}

// AgentAlert names the agents that are in a state that needs attention.
type AgentAlert struct {
	State city.State
	Names []string
}

// AgentAlerts returns the alerts about agents, most severe first. agents yields the name and the alert state of each
// agent.
func AgentAlerts(agents iter.Seq2[string, city.State]) (all []AgentAlert) {
	for _, s := range []city.State{city.Failed, city.Quarantined, city.Unknown, Stuck} {
		a := AgentAlert{State: s}
		for name, state := range agents {
			if state == s {
				a.Names = append(a.Names, name)
			}
		}
		if len(a.Names) > 0 {
			all = append(all, a)
		}
	}
	return all
}

// Text returns "shown failed" for one agent, and "3 agents failed" for several.
func (a *AgentAlert) Text(shown string) string {
	if len(a.Names) == 1 {
		return shown + " " + a.State.Phrase()
	}
	return fmt.Sprintf("%d agents %s", len(a.Names), a.State.Phrase())
}
