package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// agentWays are the orders of agents: what needs a person first; by name; what changed last first; the busiest, the
// largest, the most often restarted first.
func agentWays() []widget.Way[agentRow] {
	names := func(a, b *agentRow) int { return city.CompareNames(a.name, b.name) }
	use := func(of func(*city.Usage) float64) func(a, b *agentRow) int {
		known := func(r *agentRow) float64 {
			if r.usage == nil {
				return -1
			}
			return of(r.usage)
		}
		return func(a, b *agentRow) int { return cmp.Compare(known(b), known(a)) }
	}
	return []widget.Way[agentRow]{
		{Name: "need", Rank: rank}, {Name: "name", Rank: names},
		{Name: "age", Rank: func(a, b *agentRow) int { return b.since.Compare(a.since) }},
		{Name: "cpu", Rank: use(func(u *city.Usage) float64 { return u.CPU })},
		{Name: "mem", Rank: use(func(u *city.Usage) float64 { return float64(u.RSS) })},
		{Name: "restarts", Rank: func(a, b *agentRow) int { return cmp.Compare(b.restarts, a.restarts) }},
	}
}

// poolWays are the orders of pools, by name where nobody asked for another.
func poolWays(now time.Time) []widget.Way[poolRow] {
	return []widget.Way[poolRow]{
		{Name: "name", Rank: func(a, b *poolRow) int { return city.CompareNames(a.name, b.name) }},
		{Name: "need", Rank: func(a, b *poolRow) int { return cmp.Compare(a.state(now).urgency(), b.state(now).urgency()) }},
		{Name: "size", Rank: func(a, b *poolRow) int { return cmp.Compare(b.size, a.size) }},
		{Name: "age", Rank: func(a, b *poolRow) int { return b.since.Compare(a.since) }},
	}
}

// urgency orders the states of pools: 0 needs a person most.
func (s poolState) urgency() int {
	return slices.Index([]poolState{poolFailing, poolShort, poolGrowing, poolShrinking, poolSteady, poolSuspended}, s)
}

// automationWays are the orders of automations: what needs a person first; by name; what is due next, or ran last first.
func automationWays() []widget.Way[automationRow] {
	next := func(a, b *automationRow) int {
		if a.next.IsZero() != b.next.IsZero() { // what nobody knows comes last
			return b.next.Compare(a.next)
		}
		return a.next.Compare(b.next)
	}
	last := func(r *automationRow) time.Time {
		if r.last == nil {
			return time.Time{}
		}
		return r.last.Opened
	}
	return []widget.Way[automationRow]{
		{Name: "need", Rank: func(a, b *automationRow) int { return cmp.Compare(a.urgency(), b.urgency()) }},
		{Name: "name", Rank: func(a, b *automationRow) int { return city.CompareNames(a.name, b.name) }},
		{Name: "next", Rank: next},
		{Name: "last", Rank: func(a, b *automationRow) int { return last(b).Compare(last(a)) }},
	}
}

// urgency orders automations: 0 needs a person most. What waits, runs and rests comes and goes all the time, and is one: a
// list that people read stays as it is meanwhile.
func (r *automationRow) urgency() int {
	switch {
	case r.state == automationBroken:
		return 0
	case r.fails():
		return 1
	case r.state == automationOff:
		return 3
	}
	return 2
}

func (r *agents) rank() func(a, b *agentRow) int {
	return widget.Ranking(agentWays(), r.Order, func(r *agentRow) string { return r.name })
}

func (p *pools) rank(now time.Time) func(a, b *poolRow) int {
	return widget.Ranking(poolWays(now), p.Order, func(r *poolRow) string { return r.name })
}

func (a *automations) rank() func(x, y *automationRow) int {
	return widget.Ranking(automationWays(), a.Order,
		func(r *automationRow) string { return r.name })
}

// handsOn reports whether somebody works in the lists just now, so that nothing may move there.
func (m *model) handsOn() bool { return m.now.Sub(m.keyed) < still }

// settledOrder reports whether the lists are in the order they should be in, and show what they should.
func (m *model) settledOrder() bool {
	return m.handsOn() || m.settledFilters() && widget.InOrder(m.agents.Rows, m.agents.rank()) &&
		widget.InOrder(m.pools.Rows, m.pools.rank(m.now)) &&
		widget.InOrder(m.automations.Rows, m.automations.rank()) &&
		widget.InOrder(m.watchdogs.Rows, watchdogRank)
}

// sorting is the order of the focused list, and the names of all that it may have; none where nothing is sorted.
func (m *model) sorting() (o *widget.Order, ways []string) {
	switch m.focus {
	case panelPools:
		return &m.pools.Order, widget.WayNames(poolWays(m.now))
	case panelAutomations:
		return &m.automations.Order, widget.WayNames(automationWays())
	case panelAgents, panelQuarantine:
		return &m.agents.Order, widget.WayNames(agentWays())
	}
	return nil, nil
}

// resort puts the lists into their orders now: somebody asked for it.
func (m *model) resort() {
	widget.Sort(m.agents.Rows, m.agents.rank())
	widget.Sort(m.pools.Rows, m.pools.rank(m.now))
	widget.Sort(m.automations.Rows, m.automations.rank())
	widget.Sort(m.watchdogs.Rows, watchdogRank)
	m.keepUp()
}

// orders are those of all lists by the names of their panels, as they are kept from one visit to the next.
func (m *model) orders() map[string]string {
	return map[string]string{
		"agents":      widget.OrderText(m.agents.Order, widget.WayNames(agentWays())),
		"pools":       widget.OrderText(m.pools.Order, widget.WayNames(poolWays(m.now))),
		"automations": widget.OrderText(m.automations.Order, widget.WayNames(automationWays())),
	}
}

// setOrders takes back what orders gave; what is not understood leaves an order as it is.
func (m *model) setOrders(kept map[string]string) {
	set := func(o *widget.Order, text string, ways []string) {
		name, reversed := strings.CutSuffix(text, " reversed")
		if i := slices.Index(ways, name); i >= 0 {
			*o = widget.Order{Way: i, Reversed: reversed}
		}
	}
	set(&m.agents.Order, kept["agents"], widget.WayNames(agentWays()))
	set(&m.pools.Order, kept["pools"], widget.WayNames(poolWays(m.now)))
	set(&m.automations.Order, kept["automations"], widget.WayNames(automationWays()))
	m.resort()
}

// ordered adds to what a rule says at its end in which order a list of n rows is; where it is the usual one, only while
// somebody works there.
func (m *model) ordered(note string, o widget.Order, ways []string, n int, focus bool) string {
	if n < 2 || !focus && o == (widget.Order{}) || tierOf(m.w, m.h) == single {
		return note
	}
	text := widget.OrderText(o, ways)
	if k := m.keys.KeyNow("list.sort"); k != "" {
		text = k + ":" + text
	}
	if note == "" {
		return text
	}
	return note + "  " + text
}
