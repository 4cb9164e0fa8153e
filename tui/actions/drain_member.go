package actions

import (
	"cmp"
	"strings"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func chooseDrained(m *state.Room, p *panel.PoolRow) []feed.Effect {
	known, name := p, p.Name
	return openMembers(m, "Drain which member of "+p.Shown+"?", "",
		func(m *state.Room) []state.Item {
			rows := m.Pools.Members(name)
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
					items[i].Effect = "It is draining. If you cancel the drain, it keeps running."
				case r.Surplus():
					items[i].Why, items[i].Verb = nil, "does nothing"
					items[i].Effect = state.AlreadyDraining(m, r)
				}
			}
			if now := m.Pools.Find(name); now != nil {
				known = now
			}
			return append([]state.Item{drainAll(m, known)}, items...)
		})
}

// drainAll returns the entry that drains all members of a pool. It does not use the cursor of Pools, because a reload
// can move it.
func drainAll(m *state.Room, p *panel.PoolRow) state.Item {
	t := state.DrainTargetsOf(m, []*panel.PoolRow{p})
	drain, undrain := t.Split()
	all := state.Item{Title: "all members", Prefix: true, Extra: true,
		Verb: "asks whether to drain them",
		Note: widget.Number(len(drain)) + " can drain",
		Why:  func() string { return cmp.Or(state.NeedWritable(m), t.Undrainable(m)) },
		Run: func(m *state.Room) []feed.Effect {
			return askDrainOf(m, state.DrainTargetsOf(m, []*panel.PoolRow{p}))
		}}
	switch {
	case len(drain) == 0:
		all.Note, all.Verb = widget.Number(len(undrain))+" drains to cancel",
			"asks whether to cancel the drains"
		if m.Confirm != state.ConfirmAlways {
			all.Verb = "cancels the drains"
		}
	case !asksToDrain(m, t) && len(drain) == 1:
		all.Verb = "drains it"
	case !asksToDrain(m, t):
		all.Verb = "drains them"
	case len(drain) == 1:
		all.Verb = "asks whether to drain it"
	}
	return all
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
			return state.CommandRows(m, "canceling the drain of", []*panel.AgentRow{r},
				func(name string) city.Command { return city.Undrain{Agent: name} })
		}
		return state.CommandRows(m, "draining", []*panel.AgentRow{r},
			func(name string) city.Command { return city.Drain{Agent: name} })
	}
}
