package tui

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// usualDrain is how long an agent without a pool has to finish.
const usualDrain = 5 * time.Minute

// drainTargets are the targets that D would tell to finish; if there are none, those that it would take it back from.
func drainTargets(m *model) (drain, undrain []*panel.AgentRow) {
	for _, r := range drainRows(m) {
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
func ofWholePools(m *model) bool { return actsOn(m, panel.KindPool) && len(m.aim) == 0 }

// drainRows are the targets of D: in Pools the members of the pools that are marked, or of the one under the cursor.
func drainRows(m *model) []*panel.AgentRow {
	if !ofWholePools(m) {
		return targets(m)
	}
	var rows []*panel.AgentRow
	for _, p := range m.Pools.Targets() {
		rows = append(rows, details.Members(m.details(), p.Name)...)
	}
	return rows
}

// drained names whom D is about: of pools also which.
func drained(m *model, rows []*panel.AgentRow) string {
	if !ofWholePools(m) {
		return whom(rows)
	}
	return widget.Count(len(rows), "member") + " of " + subjectTitle(m)
}

func needDrain(m *model) string {
	if ofWholePools(m) {
		if why := needPoolVerb(m); why != "" {
			return why
		}
		if drain, undrain := drainTargets(m); len(drain)+len(undrain) == 0 {
			return "no member of " + subjectTitle(m) + " runs that could be told to finish"
		}
		return ""
	}
	if why := needVerb(m); why != "" {
		return why
	}
	if drain, undrain := drainTargets(m); len(drain)+len(undrain) > 0 {
		return ""
	}
	rows := targets(m)
	if len(rows) > 1 {
		return "none of them runs: there is nothing to finish"
	}
	if rows[0].Surplus() {
		return isSurplus(m, rows[0])
	}
	return fmt.Sprintf("%s is %s: there is nothing to finish", rows[0].Shown,
		panel.InState(rows[0].State))
}

// isSurplus says how a member that its pool wants no longer is kept.
func isSurplus(m *model, r *panel.AgentRow) string {
	return fmt.Sprintf("%s finishes because pool %s wants fewer: to keep it press %s, then %s",
		r.Shown, widget.Plain(r.Pool),
		m.keys.KeyOf("focus.pools"), m.keys.KeyOf("pool.more"))
}

func askDrain(m *model) []feed.Effect {
	drain, undrain := drainTargets(m)
	if len(drain) == 0 {
		return perhaps(m, question{title: "Take the drain of " + drained(m, undrain) + " back?",
			whom: names(m, undrain), verb: "take it back",
			do: func(m *model) []feed.Effect {
				return do(m, "taking back the drain of", undrain, func(name string) city.Command {
					return city.Undrain{Agent: name}
				})
			}})
	}
	whole := ofWholePools(m)
	do := func(m *model) []feed.Effect {
		if whole {
			m.Pools.Marks = map[string]bool{}
		}
		return do(m, "draining", drain, func(name string) city.Command {
			return city.Drain{Agent: name}
		})
	}
	q := question{title: "Drain " + drained(m, drain) + "?", whom: names(m, drain),
		body: drainMeans(m, drain), verb: "drain", count: len(drain), do: do}
	if whole {
		q.whom = []string{listedRows(drain)}
	}
	ask(m, q)
	return nil
}

// drainMeans says what happens to agents that are told to finish.
func drainMeans(m *model, rows []*panel.AgentRow) []string {
	least := drainTimeout(m, rows[0])
	most, pooled := least, false
	for _, r := range rows {
		d := drainTimeout(m, r)
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
func drainTimeout(m *model, r *panel.AgentRow) time.Duration {
	if p := m.Pools.Find(r.Pool); p != nil {
		return p.Timeout
	}
	return usualDrain
}
