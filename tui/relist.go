package tui

import "gcity/city"

// relist makes the lists anew from the snapshot.
func (m *model) relist() {
	m.agents.update(m.snap.Agents, m.handsOn())
	m.agents.pulses.Observe(m.snap.Agents, m.now, m.snap.Patrol.Interval)
	m.pools.update(m.snap.Pools, m.now, m.handsOn())
	m.automations.hand = m.keys.KeyOf("automation.fire")
	m.automations.update(m.snap.Automations, m.handsOn())
	m.watchdogs.update(m.snap.Watchdogs, m.look.Glyphs.Dot, m.handsOn())
	m.heed()
	m.firedEnded()
	m.runsChanged()
	m.workChanged()
	m.mailChanged()
	m.dossierChanged()
	m.readLetters()
	m.discount()
	m.agents.Marks = pruned(m.agents.Marks, func(name string) bool { return m.agents.Find(name) != nil })
	m.pools.Marks = pruned(m.pools.Marks, func(name string) bool { return m.pools.Find(name) != nil })
	m.automations.Marks = pruned(m.automations.Marks, func(name string) bool { return m.automations.Find(name) != nil })
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
	return m.agents.List.Settled(m.holding(true, m.agents.Chosen)) && m.quarantine.List.Settled(m.holding(m.focus == panelQuarantine, m.agents.Chosen)) &&
		m.pools.List.Settled(m.holding(true, m.pools.Chosen)) && m.automations.List.Settled(m.holding(true, m.automations.Chosen)) &&
		m.watchdogs.List.Settled(m.holding(true, m.watchdogs.Chosen))
}

func (m *model) fill(holding func(here bool, chosen string) func(id string) bool) {
	m.agents.Version++
	m.sifted = m.now.Unix()
	all := func(int) bool { return true }
	m.agents.List.Fill(&m.agents, m.agents.Chosen, all, func(i int) bool {
		r := &m.agents.Rows[i]
		return r.passes(&m.agents.Filter) && (!m.attention || r.attention(m.now))
	}, holding(true, m.agents.Chosen))
	m.quarantine.List.Fill(&m.agents, m.agents.Chosen, func(i int) bool { return m.agents.Rows[i].state == city.Quarantined }, all,
		holding(m.focus == panelQuarantine, m.agents.Chosen))
	if r := m.agents.At(m.list()); r != nil {
		if m.selected() == nil || m.focus != panelPeek && m.focus != panelWatchdogs && !m.visible(m.agents.Chosen) {
			m.choose(r.name)
		}
	}
	m.pools.Fill(func(r *poolRow) bool {
		return r.passes(&m.pools.Filter, m.now) && (!m.attention || r.attention(m.now))
	}, holding(true, m.pools.Chosen))
	m.automations.Fill(func(r *automationRow) bool {
		return r.passes(&m.automations.Filter) && (!m.attention || r.attention())
	}, holding(true, m.automations.Chosen))
	m.watchdogs.Fill(func(r *watchdogRow) bool {
		return r.passes(&m.watchdogs.Filter) && (!m.attention || r.attention())
	}, holding(true, m.watchdogs.Chosen))
	m.followWatched()
	m.sift()
}

// visible reports whether the focused list shows an agent.
func (m *model) visible(name string) bool {
	for _, i := range m.list().Shown {
		if m.agents.Rows[i].name == name {
			return true
		}
	}
	return false
}
