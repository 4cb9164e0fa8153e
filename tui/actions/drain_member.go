package actions

import (
	"strings"

	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func drainPoolQuestion(m *state.Room, rows []*panel.PoolRow) question {
	p, t := rows[0], state.DrainTargetsOf(m, rows)
	if why := t.Undrainable(m); why != "" {
		return question{none: "cannot drain: " + why}
	}
	targets, draining := t.Split()
	q, doing := question{}, "drain"
	if len(targets) > 0 {
		q = drainQuestion(m, t)
		q.title = "Drain " + t.Pools + "?"
	} else {
		targets, doing = draining, "cancel the drain of"
		q = undrainQuestion(m, t, draining)
		q.title = "Cancel the drain of " + t.Pools + "?"
		q.targets = []string{details.ListRows(draining)}
	}
	all := state.Answer{Key: "a", Old: "y", Do: drainAll(t, &q),
		Title: "yes, " + doing + " " + details.AllMembers(len(targets))}
	if len(targets) == 1 {
		all.Key, all.Title = "y", "yes, "+doing+" "+targets[0].Shown
	}
	no := state.Answer{Key: "n", Title: "no, leave it", Safe: true}
	if len(t.Rows) == 1 {
		q.answers, q.cursor = []state.Answer{all, no}, 1
	} else {
		one := state.Answer{Key: "m", Title: "choose just one member", Do: chooseDrained(p)}
		q.answers = []state.Answer{one, all, no}
	}
	q.plan = true
	return q
}

func chooseDrained(p *panel.PoolRow) state.Task {
	name, shown := p.Name, p.Shown
	return func(m *state.Room) []feed.Effect {
		return openMembers(m, "Drain which member of "+shown+"?", "",
			func(m *state.Room) []state.Item { return drainedMembers(m, name) })
	}
}

func drainedMembers(m *state.Room, pool string) []state.Item {
	rows := m.Pools.Members(pool)
	items := palette.Members(&m.Look, rows, func(r *panel.AgentRow) state.Task {
		return drainMember(r.Name)
	})
	for i, r := range rows {
		one := state.DrainTargets{Rows: []*panel.AgentRow{r}}
		items[i].Why = func() string { return one.Undrainable(m) }
		items[i].Words, items[i].Verb = "", "drains it"
		items[i].Effect = strings.Join(
			details.DrainEffects(m.Pools, []*panel.AgentRow{r}), " ")
		switch {
		case r.Undrainable():
			items[i].Verb = "cancels its drain"
			items[i].Effect = "It is draining. If you cancel the drain, it will keep running."
		case r.Surplus():
			items[i].Why, items[i].Verb = nil, "does nothing"
			items[i].Effect = state.AlreadyDraining(m, r)
		}
	}
	return items
}

func drainMember(name string) state.Task {
	return func(m *state.Room) []feed.Effect {
		r := m.Agents.Find(name)
		switch {
		case r == nil:
			state.ShowFailure(m, "cannot drain "+widget.Plain(name)+": it no longer exists")
			return nil
		case r.Surplus():
			state.ShowNote(m, state.AlreadyDraining(m, r))
			return nil
		case r.Undrainable():
			return state.CommandRows(m, "canceling the drain of", []*panel.AgentRow{r}, undrain)
		}
		return state.CommandRows(m, "draining", []*panel.AgentRow{r}, drain)
	}
}
