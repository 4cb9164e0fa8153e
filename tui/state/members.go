package state

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// MembersAt returns the running members of the pool under the cursor, the selected agent first.
func MembersAt(m *Room) []*panel.AgentRow {
	p := m.Pools.Current()
	if p == nil {
		return nil
	}
	rows := m.Agents.Where(func(r *panel.AgentRow) bool { return r.Pool == p.Name && r.Running })
	selected := Selected(m) // call Selected only once, because it searches all agents
	slices.SortStableFunc(rows, func(a, b *panel.AgentRow) int {
		return memberRank(a, selected) - memberRank(b, selected)
	})
	return rows
}

func memberRank(r, selected *panel.AgentRow) int {
	switch {
	case r.State != city.Running:
		return 2
	case r == selected:
		return 0
	}
	return 1
}

// DrainTargets contains the targets of the drain verb.
type DrainTargets struct {
	Rows []*panel.AgentRow
	// names of the pools: "pool worker"; "" = the targets are agents
	Pools string
	Of    []*panel.PoolRow // nil = the targets are agents
}

// DrainTargetsAt returns the targets of the drain verb. If the verb acts on pools, the targets are their members.
func DrainTargetsAt(m *Room) DrainTargets {
	if !ActsOnPools(m) {
		return DrainTargets{Rows: Targets(m)}
	}
	return DrainTargetsOf(m, m.Pools.Targets())
}

// DrainTargetsOf returns the members of pools, regardless of the cursor.
func DrainTargetsOf(m *Room, pools []*panel.PoolRow) DrainTargets {
	t := DrainTargets{Pools: m.Pools.Names(pools), Of: pools}
	for _, p := range pools {
		t.Rows = append(t.Rows, m.Pools.Members(p.Name)...)
	}
	return t
}

// Split returns the agents that can be drained, and the agents with a drain that can be canceled.
func (t *DrainTargets) Split() (drain, undrain []*panel.AgentRow) {
	for _, r := range t.Rows {
		switch {
		case r.Drainable():
			drain = append(drain, r)
		case r.Undrainable():
			undrain = append(undrain, r)
		}
	}
	return drain, undrain
}

// Names returns text that names some of the targets: "3 agents", "2 members of pool worker".
func (t *DrainTargets) Names(m *Room, rows []*panel.AgentRow) string {
	if t.Pools == "" {
		return TargetNames(m, rows)
	}
	return widget.Count(len(rows), "member") + " of " + t.Pools
}

// Undrainable returns the reason why the user cannot start or cancel a drain, or "".
func (t *DrainTargets) Undrainable(m *Room) string {
	drain, undrain := t.Split()
	switch {
	case len(drain)+len(undrain) > 0:
		return ""
	case t.Pools != "" && slices.ContainsFunc(t.Rows, (*panel.AgentRow).Surplus):
		return fmt.Sprintf("the running members of %s are draining because their pool is scaling "+
			"down; to keep them, press %s, then %s", t.Pools, m.Keys.KeyText("focus.pools"),
			m.Keys.KeyText("pool.more"))
	case t.Pools != "":
		return "no member of " + t.Pools + " is running, so there is nothing to drain"
	case len(t.Rows) > 1:
		return "no selected agent is running, so there is nothing to drain"
	case t.Rows[0].Surplus():
		return SurplusReason(m, t.Rows[0])
	}
	r := t.Rows[0]
	return fmt.Sprintf("%s %s, so there is nothing to drain", r.Shown, r.State.Is())
}

// Refused returns text that lists the agents that cannot be drained, each with its state, or "".
func (t *DrainTargets) Refused() string {
	var out []string
	for _, r := range t.Rows {
		if !r.Drainable() {
			out = append(out, r.Shown+" "+r.State.Is())
		}
	}
	return strings.Join(out, ", ")
}

// Unrestartable returns the reason why an agent cannot be restarted, or "".
func Unrestartable(m *Room, r *panel.AgentRow) string {
	switch {
	case r.IsSuspended():
		return r.Shown + " is suspended; " + m.Keys.KeyText(SuspendID) + " resumes it"
	case r.Surplus():
		return r.Shown + " is draining because its pool is scaling down"
	}
	if p := m.Pools.Find(r.Pool); p != nil && r.Refusal.Surplus {
		return fmt.Sprintf(
			"%s is surplus: pool %s wants %d; to scale the pool up, press %s, then %s", r.Shown,
			p.Shown, p.Desired, m.Keys.KeyText("focus.pools"), m.Keys.KeyText("pool.scale"))
	}
	return widget.Plain(r.Refusal.NoRestart)
}

// SurplusReason returns text that explains why a surplus member is draining, and how to keep it.
func SurplusReason(m *Room, r *panel.AgentRow) string {
	return fmt.Sprintf(
		"%s is draining because pool %s is scaling down; to keep the agent, press %s, then %s",
		r.Shown, widget.Plain(r.Pool), m.Keys.KeyText("focus.pools"), m.Keys.KeyText("pool.more"))
}

// SurplusTarget returns the target of the drain verb if it is a single surplus member that is already draining, or nil.
func SurplusTarget(m *Room) *panel.AgentRow {
	rows := Targets(m)
	if ActsOnPools(m) || len(rows) != 1 || !rows[0].Surplus() || NeedWritable(m) != "" {
		return nil
	}
	return rows[0]
}

// AlreadyDraining returns text that says why a surplus member of a pool is draining, what will happen next, and how to
// keep the member.
func AlreadyDraining(m *Room, r *panel.AgentRow) string {
	why := ""
	if p := m.Pools.Find(r.Pool); p != nil {
		why = fmt.Sprintf("pool %s wants %d, ", p.Shown, p.Desired)
	}
	return fmt.Sprintf("%s is already draining: %s%s; to keep the agent, press %s, then %s",
		r.Shown, why, r.NextChange(m.Env()).Brief, m.Keys.KeyText("focus.pools"),
		m.Keys.KeyText("pool.more"))
}

// ActsOnPools reports whether verbs for agents or pools currently act on pools.
func ActsOnPools(m *Room) bool {
	return ActsOn(m, panel.KindPool) && len(m.NamedAgents) == 0
}
