package describe

import (
	"fmt"
	"iter"

	"gcity/city"
)

// States that alerts and counts use for an agent that does not continue.
const (
	Asking city.State = "asking" // it asks its user a question
	Stuck  city.State = "stuck"
)

// AlertState returns the state of an agent for alerts and counts.
func AlertState(s city.State, b *city.Blocker) city.State {
	switch {
	case b.Asks != nil && (s == city.Running || s == city.Starting || s == city.Draining):
		return Asking
	case b.Stuck != nil && s == city.Running:
		return Stuck
	}
	return s
}

// Asks says that an agent asks a question: "asked a question 2m ago; attach to answer it". Without an age, it is "asks
// a question; attach to answer it".
func Asks(q *city.Question, age string) string {
	text := "asks a question"
	if age != "" {
		text = "asked a question"
	}
	if q.About != "" {
		text += " about " + q.About
	}
	if age != "" {
		text += " " + age + " ago"
	}
	return text + "; attach to answer it"
}

// AgentAlert names the agents that are in a state that needs attention.
type AgentAlert struct {
	State city.State
	Names []string
}

// AgentAlerts returns the alerts about agents, most severe first. agents yields the name and the alert state of each
// agent.
func AgentAlerts(agents iter.Seq2[string, city.State]) (all []AgentAlert) {
	for _, s := range []city.State{city.Failed, city.Quarantined, city.Unknown, Asking, Stuck} {
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
	switch n := len(a.Names); {
	case a.State == Asking && n == 1:
		return shown + " asks a question"
	case a.State == Asking:
		return fmt.Sprintf("%d agents ask a question", n)
	case n == 1:
		return shown + " " + a.State.Phrase()
	}
	return fmt.Sprintf("%d agents %s", len(a.Names), a.State.Phrase())
}
