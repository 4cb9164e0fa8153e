package tui

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// usualDrain is how long an agent without a pool has to finish.
const usualDrain = 5 * time.Minute

// drainTargets are the targets that D would tell to finish; if there are none, those that it would take it back from.
func (m *model) drainTargets() (drain, undrain []*panel.AgentRow) {
	for _, r := range m.drainRows() {
		switch {
		case r.Drainable():
			drain = append(drain, r)
		case r.Undrainable():
			undrain = append(undrain, r)
		}
	}
	return drain, undrain
}

// ofWholePools reports whether D is about all members of pools.
func (m *model) ofWholePools() bool { return actsOn(m, panel.KindPool) && len(m.aim) == 0 }

// drainRows are the targets of D: in Pools the members of the pools that are marked, or of the one under the cursor.
func (m *model) drainRows() []*panel.AgentRow {
	if !m.ofWholePools() {
		return m.targets()
	}
	var rows []*panel.AgentRow
	for _, p := range m.Pools.Targets() {
		rows = append(rows, m.members(p.Name)...)
	}
	return rows
}

// drained names whom D is about: of pools also which.
func (m *model) drained(rows []*panel.AgentRow) string {
	if !m.ofWholePools() {
		return whom(rows)
	}
	return widget.Count(len(rows), "member") + " of " + m.subjectTitle()
}

func needDrain(m *model) string {
	if m.ofWholePools() {
		if why := needPoolVerb(m); why != "" {
			return why
		}
		if drain, undrain := m.drainTargets(); len(drain)+len(undrain) == 0 {
			return "no member of " + m.subjectTitle() + " runs that could be told to finish"
		}
		return ""
	}
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
	if rows[0].Surplus() {
		return m.isSurplus(rows[0])
	}
	return fmt.Sprintf("%s is %s: there is nothing to finish", rows[0].Shown,
		panel.InState(rows[0].State))
}

// isSurplus says how a member that its pool wants no longer is kept.
func (m *model) isSurplus(r *panel.AgentRow) string {
	return fmt.Sprintf("%s finishes because pool %s wants fewer: to keep it press %s, then %s",
		r.Shown, widget.Plain(r.Pool),
		m.keys.KeyOf("focus.pools"), m.keys.KeyOf("pool.more"))
}

func (m *model) askDrain() []effect {
	drain, undrain := m.drainTargets()
	if len(drain) == 0 {
		return m.perhaps(question{title: "Take the drain of " + m.drained(undrain) + " back?",
			whom: m.names(undrain), verb: "take it back",
			do: func(m *model) []effect {
				return m.do("taking back the drain of", undrain, func(name string) city.Command {
					return city.Undrain{Agent: name}
				})
			}})
	}
	whole := m.ofWholePools()
	do := func(m *model) []effect {
		if whole {
			m.Pools.Marks = map[string]bool{}
		}
		return m.do("draining", drain, func(name string) city.Command {
			return city.Drain{Agent: name}
		})
	}
	q := question{title: "Drain " + m.drained(drain) + "?", whom: m.names(drain),
		body: m.drainMeans(drain), verb: "drain", count: len(drain), do: do}
	if whole {
		q.whom = []string{listedRows(drain)}
	}
	m.ask(q)
	return nil
}

// drainMeans says what happens to agents that are told to finish.
func (m *model) drainMeans(rows []*panel.AgentRow) []string {
	least := m.drainTimeout(rows[0])
	most, pooled := least, false
	for _, r := range rows {
		d := m.drainTimeout(r)
		least, most, pooled = min(least, d), max(most, d), pooled || r.Pool != ""
	}
	told, deadline, then := "It is told to finish, and ends when it has",
		", or after "+widget.Duration(most)+".",
		"Then it is started anew, for it stays declared."
	if len(rows) > 1 {
		told, then = "They are told to finish, and end when they have",
			"Then they are started anew, for they stay declared."
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
func (m *model) drainTimeout(r *panel.AgentRow) time.Duration {
	if p := m.Pools.Find(r.Pool); p != nil {
		return p.Timeout
	}
	return usualDrain
}
