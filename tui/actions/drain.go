package actions

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// DrainTargets returns the targets that can be drained, and targets with a drain that can be canceled.
func DrainTargets(m *state.Room) (drain, undrain []*panel.AgentRow) {
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

// ofWholePools reports whether the drain verb acts on all members of a pool.
func ofWholePools(m *state.Room) bool {
	return state.ActsOn(m, panel.KindPool) && len(m.NamedAgents) == 0
}

// drainRows returns the targets of the drain verb. In Pools these are the members of the marked pools or, if none is
// marked, of the pool under the cursor.
func drainRows(m *state.Room) []*panel.AgentRow {
	if !ofWholePools(m) {
		return state.Targets(m)
	}
	var rows []*panel.AgentRow
	for _, p := range m.Pools.Targets() {
		rows = append(rows, m.Pools.Members(p.Name)...)
	}
	return rows
}

// drained describes the targets of the drain verb: "3 agents", "2 members of pool worker".
func drained(m *state.Room, rows []*panel.AgentRow) string {
	if !ofWholePools(m) {
		return details.TargetNames(rows)
	}
	return widget.Count(len(rows), "member") + " of " + subjectTitle(m)
}

func needDrain(m *state.Room) string {
	if ofWholePools(m) {
		if why := needPoolVerb(m); why != "" {
			return why
		}
		if drain, undrain := DrainTargets(m); len(drain)+len(undrain) == 0 {
			return "no member of " + subjectTitle(m) + " is running, so there is nothing to drain"
		}
		return ""
	}
	if why := needVerb(m); why != "" {
		return why
	}
	if drain, undrain := DrainTargets(m); len(drain)+len(undrain) > 0 {
		return ""
	}
	rows := state.Targets(m)
	if len(rows) > 1 {
		return "no selected agent is running, so there is nothing to drain"
	}
	return undrainable(m, rows[0])
}

// undrainable returns the reason why an agent cannot be drained and has no drain that can be canceled, or "".
func undrainable(m *state.Room, r *panel.AgentRow) string {
	switch {
	case r.Drainable() || r.Undrainable():
		return ""
	case r.Surplus():
		return surplusReason(m, r)
	}
	return fmt.Sprintf("%s is %s, so there is nothing to drain", r.Shown, r.State.Is())
}

// surplusReason explains why a surplus member of a pool is draining, and how to keep it.
func surplusReason(m *state.Room, r *panel.AgentRow) string {
	return fmt.Sprintf(
		"%s is draining because pool %s is scaling down; to keep it, press %s, then %s",
		r.Shown, widget.Plain(r.Pool), m.Keys.KeyText("focus.pools"), m.Keys.KeyText("pool.more"))
}

// askDrain asks before agents drain. For a pool with several members, it first asks which of them.
func askDrain(m *state.Room) []feed.Effect {
	if p := m.Pools.Targets(); ofWholePools(m) && len(p) == 1 &&
		len(m.Pools.Members(p[0].Name)) > 1 {
		return chooseDrained(m, p[0])
	}
	return askDrainOfAll(m)
}

// askDrainOfAll asks before all targets drain. If all that can drain are draining, it cancels the drains.
func askDrainOfAll(m *state.Room) []feed.Effect {
	drain, undrain := DrainTargets(m)
	if len(drain) == 0 {
		return askIfWanted(m, question{title: "Cancel the drain of " + drained(m, undrain) + "?",
			targets: targetLines(m, undrain), verb: "cancel the drain",
			do: func(m *state.Room) []feed.Effect {
				return state.CommandRows(m, "canceling the drain of", undrain,
					func(name string) city.Command {
						return city.Undrain{Agent: name}
					})
			}})
	}
	whole := ofWholePools(m)
	do := func(m *state.Room) []feed.Effect {
		if whole {
			m.Pools.Marks = map[string]bool{}
		}
		return state.CommandRows(m, "draining", drain, func(name string) city.Command {
			return city.Drain{Agent: name}
		})
	}
	q := question{title: "Drain " + drained(m, drain) + "?", targets: targetLines(m, drain),
		body: details.DrainEffects(m.Pools, drain), verb: "drain", count: len(drain), do: do}
	if whole {
		q.targets = []string{details.ListRows(drain)}
	}
	if out := omitted(m); out != "" {
		q.body = append(q.body, out)
	}
	ask(m, q)
	return nil
}

// omitted names the targets that will not be drained, with their states, or returns "".
func omitted(m *state.Room) string {
	var out []string
	for _, r := range drainRows(m) {
		if !r.Drainable() {
			out = append(out, r.Shown+" is "+r.State.Is())
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "Not drained: " + strings.Join(out, ", ") + "."
}
