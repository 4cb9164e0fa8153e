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

// drained returns text that names the targets of the drain verb: "3 agents", "2 members of pool worker".
func drained(m *state.Room, rows []*panel.AgentRow) string {
	if !state.DrainsPools(m) {
		return state.TargetNames(m, rows)
	}
	return widget.Count(len(rows), "member") + " of " + subjectTitle(m)
}

func needDrain(m *state.Room) string {
	if state.DrainsPools(m) {
		if why := needPoolVerb(m); why != "" {
			return why
		}
		if drain, undrain := state.DrainTargets(m); len(drain)+len(undrain) == 0 {
			return "no member of " + subjectTitle(m) + " is running, so there is nothing to drain"
		}
		return ""
	}
	if why := needVerb(m); why != "" {
		return why
	}
	if drain, undrain := state.DrainTargets(m); len(drain)+len(undrain) > 0 {
		return ""
	}
	rows := state.Targets(m)
	if len(rows) > 1 {
		return "no selected agent is running, so there is nothing to drain"
	}
	return undrainable(m, rows[0])
}

// undrainable returns the reason why the drain verb cannot act on an agent, or "".
func undrainable(m *state.Room, r *panel.AgentRow) string {
	switch {
	case r.Drainable() || r.Undrainable():
		return ""
	case r.Surplus():
		return surplusReason(m, r)
	}
	return fmt.Sprintf("%s is %s, so there is nothing to drain", r.Shown, r.State.Is())
}

// surplusReason returns text that explains why a surplus member of a pool is draining, and how to keep it.
func surplusReason(m *state.Room, r *panel.AgentRow) string {
	return fmt.Sprintf(
		"%s is draining because pool %s is scaling down; to keep it, press %s, then %s",
		r.Shown, widget.Plain(r.Pool), m.Keys.KeyText("focus.pools"), m.Keys.KeyText("pool.more"))
}

// askDrain drains a single agent immediately, because undo can cancel the drain. If there are several agents, it asks
// first. For a pool, it asks which member to drain, even if there is only one, because the size of a pool can change at
// any time.
func askDrain(m *state.Room) []feed.Effect {
	if p := m.Pools.Targets(); state.DrainsPools(m) && len(p) == 1 {
		return chooseDrained(m, p[0])
	}
	return askDrainOfAll(m)
}

// askDrainOfAll asks before it drains several targets. If no target can be drained, it cancels drains in progress.
func askDrainOfAll(m *state.Room) []feed.Effect {
	drain, undrain := state.DrainTargets(m)
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
	rows := state.DrainRows(m)
	if len(rows) == 1 && m.Confirm != state.ConfirmAlways {
		q := drainQuestion(m, rows)
		return q.do(m)
	}
	askLive(m, aboutAgents(m, rows, drainQuestion))
	return nil
}

// drainQuestion builds the question about draining agents. The question names the agents that cannot be drained.
func drainQuestion(m *state.Room, rows []*panel.AgentRow) question {
	whole := state.DrainsPools(m)
	drain, _ := state.SplitDrainable(rows)
	out := notDrained(rows)
	if len(drain) == 0 {
		return question{none: "nothing was done: " + out}
	}
	q := question{title: "Drain " + drained(m, drain) + "?", targets: targetLines(m, drain),
		body: details.DrainEffects(m.Pools, drain), verb: "drain", count: len(drain), of: "agents",
		do: func(m *state.Room) []feed.Effect {
			if whole {
				m.Pools.Marks = map[string]bool{}
			}
			return state.CommandRows(m, "draining", drain, func(name string) city.Command {
				return city.Drain{Agent: name}
			})
		}}
	if whole {
		q.targets = []string{details.ListRows(drain)}
	}
	if out != "" {
		q.body = append(q.body, "Not drained: "+out+".")
	}
	return q
}

// notDrained returns text with the agents that will not be drained and their states, or "".
func notDrained(rows []*panel.AgentRow) string {
	var out []string
	for _, r := range rows {
		if !r.Drainable() {
			out = append(out, r.Shown+" is "+r.State.Is())
		}
	}
	return strings.Join(out, ", ")
}
