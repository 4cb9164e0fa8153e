package tui

import (
	"fmt"
	"time"

	"gcity/city"
)

// usualDrain is how long an agent without a pool has to finish.
const usualDrain = 5 * time.Minute

// drainable reports whether an agent can be told to finish.
func (r *agentRow) drainable() bool {
	return r.running && r.state != city.Draining && r.state != city.Stopping
}

// drainTargets are the targets that D would tell to finish; if there are none, those that it would take it back from.
func (m *model) drainTargets() (drain, undrain []*agentRow) {
	for _, r := range m.targets() {
		switch {
		case r.drainable():
			drain = append(drain, r)
		case r.state == city.Draining:
			undrain = append(undrain, r)
		}
	}
	return drain, undrain
}

func needDrain(m *model) string {
	if why := needVerb(m); why != "" {
		return why
	}
	if drain, undrain := m.drainTargets(); len(drain)+len(undrain) > 0 {
		return ""
	}
	rows := m.targets()
	if len(rows) > 1 {
		return "none of them runs: there is nothing to finish"
	}
	return fmt.Sprintf("%s is %s: there is nothing to finish", rows[0].shown, rows[0].state)
}

func (m *model) askDrain() []effect {
	drain, undrain := m.drainTargets()
	if len(drain) == 0 {
		return m.do("taking back the drain of", undrain, func(name string) city.Command { return city.Undrain{Agent: name} })
	}
	do := func(m *model) []effect {
		return m.do("draining", drain, func(name string) city.Command { return city.Drain{Agent: name} })
	}
	m.ask(question{title: "Drain " + whom(drain) + "?", whom: names(drain), body: m.drainMeans(drain), verb: "drain", count: len(drain), do: do})
	return nil
}

// drainMeans says what happens to agents that are told to finish.
func (m *model) drainMeans(rows []*agentRow) []string {
	least := m.drainTimeout(rows[0])
	most, pooled := least, false
	for _, r := range rows {
		d := m.drainTimeout(r)
		least, most, pooled = min(least, d), max(most, d), pooled || r.pool != ""
	}
	told, deadline, then := "It is told to finish, and ends when it has", ", or after "+span(most)+".",
		"Then it is started anew, for it stays declared."
	if len(rows) > 1 {
		told, then = "They are told to finish, and end when they have", "Then they are started anew, for they stay declared."
	}
	switch {
	case most == 0:
		deadline = "; there is no deadline."
	case least != most:
		deadline = ", or at a deadline."
	}
	if pooled {
		then = "A declared agent is then started anew; a surplus pool member is not."
	}
	return []string{told + deadline, then}
}

// drainTimeout is how long an agent has to finish, 0 = for ever.
func (m *model) drainTimeout(r *agentRow) time.Duration {
	if p := m.pools.find(r.pool); p != nil {
		return p.timeout
	}
	return usualDrain
}
