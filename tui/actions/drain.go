package actions

import (
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func needDrain(m *state.Room) string {
	why := ""
	if state.DrainsPools(m) {
		why = needPoolVerb(m)
	} else {
		why = needVerb(m)
	}
	if why != "" {
		return why
	}
	t := state.DrainTargetsAt(m)
	return t.Undrainable(m)
}

// askDrain drains a single agent immediately, because undo can cancel the drain. If there are several agents, it asks
// first. For a pool, it asks which member to drain. It asks even if there is only one member, because the size of a
// pool can change at any time.
func askDrain(m *state.Room) []feed.Effect {
	if p := m.Pools.Targets(); state.DrainsPools(m) && len(p) == 1 {
		return chooseDrained(m, p[0])
	}
	return askDrainOf(m, state.DrainTargetsAt(m))
}

func asksToDrain(m *state.Room, t state.DrainTargets) bool {
	drain, _ := t.Split()
	return !asksNothing(m, len(drain)) && (len(t.Rows) > 1 || m.Confirm == state.ConfirmAlways)
}

// askDrainOf asks before it drains several targets. If no target can be drained, it cancels drains in progress.
func askDrainOf(m *state.Room, t state.DrainTargets) []feed.Effect {
	drain, undrain := t.Split()
	if len(drain) == 0 {
		return askIfWanted(m, question{title: "Cancel the drain of " + t.Names(m, undrain) + "?",
			targets: targetLines(m, undrain), verb: "cancel the drain",
			do: func(m *state.Room) []feed.Effect {
				return state.CommandRows(m, "canceling the drain of", undrain,
					func(name string) city.Command {
						return city.Undrain{Agent: name}
					})
			}})
	}
	if !asksToDrain(m, t) {
		q := drainQuestion(m, t)
		return q.do(m)
	}
	remaining := state.Remaining(t.Rows, state.FindAgent)
	current := func(m *state.Room) (rows []*panel.AgentRow, gone []string) {
		rows, gone = remaining(m)
		if t.Pools != "" { // members can join while the question is open
			rows = state.DrainTargetsOf(m, t.Of).Rows
		}
		return rows, gone
	}
	askLive(m, aboutLeft(m, current, state.NoLonger,
		func(m *state.Room, rows []*panel.AgentRow) question {
			return drainQuestion(m, state.DrainTargets{Rows: rows, Pools: t.Pools})
		}))
	return nil
}

func drainQuestion(m *state.Room, t state.DrainTargets) question {
	drain, _ := t.Split()
	out := t.Refused()
	if len(drain) == 0 {
		return question{none: "nothing was done: " + out}
	}
	q := question{title: "Drain " + t.Names(m, drain) + "?", targets: targetLines(m, drain),
		body: details.DrainEffects(m.Pools, drain), verb: "drain", count: len(drain), of: "agents",
		do: func(m *state.Room) []feed.Effect {
			if t.Pools != "" {
				m.Pools.Marks = map[string]bool{}
			}
			return state.CommandRows(m, "draining", drain, func(name string) city.Command {
				return city.Drain{Agent: name}
			})
		}}
	if t.Pools != "" {
		q.targets = []string{details.ListRows(drain)}
	}
	if out != "" {
		q.body = append(q.body, "Not drained: "+out+".")
	}
	return q
}
