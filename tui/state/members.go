package state

import (
	"slices"

	"gcity/city"
	"gcity/tui/panel"
)

// MembersAt returns the running members of the pool under the cursor. The selected agent comes first, and members that
// are about to leave come last.
func MembersAt(m *Room) []*panel.AgentRow {
	p := m.Pools.Current()
	if p == nil {
		return nil
	}
	var rows []*panel.AgentRow
	for i := range m.Agents.Rows {
		if r := &m.Agents.Rows[i]; r.Pool == p.Name && r.Running {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b *panel.AgentRow) int {
		return memberRank(m, a) - memberRank(m, b)
	})
	return rows
}

// memberRank orders the members of a pool: the selected agent, members that stay, members that leave.
func memberRank(m *Room, r *panel.AgentRow) int {
	switch {
	case r.State != city.Running:
		return 2
	case r == Selected(m):
		return 0
	}
	return 1
}

// DrainTargets returns the targets that can be drained, and targets with a drain that can be canceled.
func DrainTargets(m *Room) (drain, undrain []*panel.AgentRow) {
	return SplitDrainable(DrainRows(m))
}

// SplitDrainable returns the agents that can be drained, and the agents with a drain that can be canceled.
func SplitDrainable(rows []*panel.AgentRow) (drain, undrain []*panel.AgentRow) {
	for _, r := range rows {
		switch {
		case r.Drainable():
			drain = append(drain, r)
		case r.Undrainable():
			undrain = append(undrain, r)
		}
	}
	return drain, undrain
}

// DrainsPools reports whether the drain verb acts on all members of pools.
func DrainsPools(m *Room) bool {
	return ActsOn(m, panel.KindPool) && len(m.NamedAgents) == 0
}

// DrainRows returns the targets of the drain verb. In Pools these are the members of the marked pools or, if none is
// marked, of the pool under the cursor.
func DrainRows(m *Room) []*panel.AgentRow {
	if !DrainsPools(m) {
		return Targets(m)
	}
	var rows []*panel.AgentRow
	for _, p := range m.Pools.Targets() {
		rows = append(rows, m.Pools.Members(p.Name)...)
	}
	return rows
}
