package actions

import (
	"fmt"

	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func needDrain(m *state.Room) string {
	need := needVerb
	if state.ActsOnPools(m) {
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
	if p := m.Pools.Targets(); state.ActsOnPools(m) && len(p) == 1 {
		return askLive(m, about(m, p, m.Pools.Find, drainPoolQuestion))
	}
	return askDrainOf(m, state.DrainTargetsAt(m))
}

func askDrainOf(m *state.Room, t state.DrainTargets) []feed.Effect {
	if running, draining := t.Split(); len(running) == 0 {
		return askIfWanted(m, undrainQuestion(m, t, draining))
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
		do: sendingToEach("canceling the drain of", rows, undrain)}
}

func drainQuestion(m *state.Room, t state.DrainTargets) question {
	rows, _ := t.Split()
	out := t.Refused()
	if len(rows) == 0 {
		return nothingDone(out)
	}
	q := question{title: "Drain " + t.Names(m, rows) + "?", targets: state.TargetLines(m, rows),
		body: details.DrainEffects(m.Pools, rows), verb: "drain", count: len(rows), of: "agents",
		do: func(m *state.Room) []feed.Effect {
			if t.Pools != "" {
				m.Pools.Marks = nil
			}
			return state.CommandRows(m, "draining", rows, drain)
		}}
	if t.Pools != "" {
		q.targets = []string{details.ListRows(rows)}
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
	rows, _ := t.Split()
	if len(rows) < 2 {
		return
	}
	all := drainQuestion(m, t)
	q.most = len(rows)
	q.more = []state.Answer{{Key: "p", Do: drainAll(t, &all),
		Title: fmt.Sprintf("pool: drain %s of %s", details.AllMembers(len(rows)), p.Shown)}}
}

func drainAll(t state.DrainTargets, all *question) state.Task {
	if all.count < manyTargets {
		return all.do
	}
	return func(m *state.Room) []feed.Effect { return askDrainOf(m, t) }
}
