package tui

import "gcity/city"

// relist makes the lists anew from the snapshot.
func (m *model) relist() {
	m.agents.update(m.snap.Agents, m.handsOn())
	m.agents.pulses.hear(m.snap.Agents, m.now, m.snap.Patrol.Interval)
	m.pools.update(m.snap.Pools, m.now, m.handsOn())
	m.automations.hand = m.keys.keyOf("automation.fire")
	m.automations.update(m.snap.Automations, m.handsOn())
	m.watchdogs.update(m.snap.Watchdogs, m.look.glyph.Dot, m.handsOn())
	m.heed()
	m.firedEnded()
	m.runsChanged()
	m.workChanged()
	m.mailChanged()
	m.dossierChanged()
	m.readLetters()
	m.discount()
	m.agents.marks = pruned(m.agents.marks, func(name string) bool { return m.agents.find(name) != nil })
	m.pools.marks = pruned(m.pools.marks, func(name string) bool { return m.pools.find(name) != nil })
	m.automations.marks = pruned(m.automations.marks, func(name string) bool { return m.automations.find(name) != nil })
	m.keepUp()
}

// refill applies the filters anew, for somebody has changed them.
func (m *model) refill() { m.fill(func(bool, string) func(string) bool { return nil }) }

// keepUp applies the filters to what is heard: what is worked with stays until the cursor leaves it.
func (m *model) keepUp() { m.fill(m.holding) }

// holding says which rows of a list stay that its filter leaves out by now: the one under the cursor, and, while somebody
// works in the lists, all.
func (m *model) holding(here bool, chosen string) func(id string) bool {
	return func(id string) bool { return here && (id == chosen || m.handsOn()) }
}

// settledFilters reports whether no list shows a row longer than it has to.
func (m *model) settledFilters() bool {
	return m.agents.list.settled(m.holding(true, m.agents.chosen)) && m.quarantine.list.settled(m.holding(m.focus == panelQuarantine, m.agents.chosen)) &&
		m.pools.list.settled(m.holding(true, m.pools.chosen)) && m.automations.list.settled(m.holding(true, m.automations.chosen)) &&
		m.watchdogs.list.settled(m.holding(true, m.watchdogs.chosen))
}

func (m *model) fill(holding func(here bool, chosen string) func(id string) bool) {
	m.agents.version++
	m.sifted = m.now.Unix()
	all := func(int) bool { return true }
	m.agents.list.fill(&m.agents, m.agents.chosen, all, func(i int) bool {
		r := &m.agents.rows[i]
		return r.passes(&m.agents.filter) && (!m.attention || r.attention(m.now))
	}, holding(true, m.agents.chosen))
	m.quarantine.list.fill(&m.agents, m.agents.chosen, func(i int) bool { return m.agents.rows[i].state == city.Quarantined }, all,
		holding(m.focus == panelQuarantine, m.agents.chosen))
	if r := m.agents.at(m.list()); r != nil {
		if m.selected() == nil || m.focus != panelPeek && m.focus != panelWatchdogs && !m.visible(m.agents.chosen) {
			m.choose(r.name)
		}
	}
	m.pools.fill(func(r *poolRow) bool {
		return r.passes(&m.pools.filter, m.now) && (!m.attention || r.attention(m.now))
	}, holding(true, m.pools.chosen))
	m.automations.fill(func(r *automationRow) bool {
		return r.passes(&m.automations.filter) && (!m.attention || r.attention())
	}, holding(true, m.automations.chosen))
	m.watchdogs.fill(func(r *watchdogRow) bool {
		return r.passes(&m.watchdogs.filter) && (!m.attention || r.attention())
	}, holding(true, m.watchdogs.chosen))
	m.followWatched()
	m.sift()
}

// visible reports whether the focused list shows an agent.
func (m *model) visible(name string) bool {
	for _, i := range m.list().shown {
		if m.agents.rows[i].name == name {
			return true
		}
	}
	return false
}
