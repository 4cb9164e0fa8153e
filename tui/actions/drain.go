package actions

import (
	"fmt"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func needDrain(m *state.Room) string {
	need := needVerb
	if state.DrainsPools(m) {
		need = needPoolVerb
	}
	if why := need(m); why != "" {
		return why
	}
	t := state.DrainTargetsAt(m)
	return t.Undrainable(m)
}

// Undo comes too late for an agent that finishes immediately, so this question is always asked.
func askDrain(m *state.Room) []feed.Effect {
	if p := m.Pools.Targets(); state.DrainsPools(m) && len(p) == 1 {
		return askLive(m, about(m, p, m.Pools.Find, drainPoolQuestion))
	}
	return askDrainOf(m, state.DrainTargetsAt(m))
}

func askDrainOf(m *state.Room, t state.DrainTargets) []feed.Effect {
	if drain, undrain := t.Split(); len(drain) == 0 {
		return askIfWanted(m, undrainQuestion(m, t, undrain))
	}
	remaining := state.Remaining(t.Rows, m.Agents.Find)
	current := func(m *state.Room) (rows []*panel.AgentRow, gone []string) {
		rows, gone = remaining(m)
		if t.Pools != "" { // members can join while the question is open
			rows = state.DrainTargetsOf(m, t.Of).Rows
		}
		return rows, gone
	}
	return askLive(m, aboutLeft(m, current, state.NoLonger,
		func(m *state.Room, rows []*panel.AgentRow) question {
			return drainQuestion(m, state.DrainTargets{Rows: rows, Pools: t.Pools, Of: t.Of})
		}))
}

func undrainQuestion(m *state.Room, t state.DrainTargets, rows []*panel.AgentRow) question {
	return question{title: "Cancel the drain of " + t.Names(m, rows) + "?",
		targets: state.TargetLines(m, rows), verb: "cancel the drain",
		do: func(m *state.Room) []feed.Effect {
			return state.CommandRows(m, "canceling the drain of", rows,
				func(name string) city.Command { return city.Undrain{Agent: name} })
		}}
}

func drainQuestion(m *state.Room, t state.DrainTargets) question {
	drain, _ := t.Split()
	out := t.Refused()
	if len(drain) == 0 {
		return nothingDone(out)
	}
	q := question{title: "Drain " + t.Names(m, drain) + "?", targets: state.TargetLines(m, drain),
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
	} else if len(t.Rows) == 1 {
		addPoolDrain(m, &q, t.Rows[0])
	}
	if out != "" {
		q.body = append(q.body, "Not drained: "+out+".")
	}
	return q
}

func addPoolDrain(m *state.Room, q *question, r *panel.AgentRow) {
	p := m.Pools.Find(r.Pool)
	if p == nil {
		return
	}
	t := state.DrainTargetsOf(m, []*panel.PoolRow{p})
	drain, _ := t.Split()
	if len(drain) < 2 {
		return
	}
	all := drainQuestion(m, t)
	q.most = len(drain)
	q.more = []state.Answer{{Key: "p", Do: drainAll(t, &all),
		Title: fmt.Sprintf("pool: drain %s of %s", details.AllMembers(len(drain)), p.Shown)}}
}

func drainAll(t state.DrainTargets, all *question) state.Task {
	if all.count < manyTargets {
		return all.do
	}
	return func(m *state.Room) []feed.Effect { return askDrainOf(m, t) }
}
