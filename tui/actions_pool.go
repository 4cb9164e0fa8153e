package tui

// poolActions are about the pool under the cursor of Pools.
func poolActions() []action {
	here := []zone{inPools}
	return []action{
		{id: "pool.details", key: bind("details: members, check and its output, last decisions", "enter"), short: "details", in: here,
			why: needPool, run: (*model).showPool},
	}
}

func needPool(m *model) string {
	if m.pool() == nil {
		return "no pool is selected; 2 goes to them"
	}
	return ""
}

// pool is what the verbs of pools are about: the one under the cursor where Pools has the focus, else that of the selected
// agent; nil if there is none.
func (m *model) pool() *poolRow {
	if m.focus == panelPools {
		return m.pools.under()
	}
	if r := m.selected(); r != nil {
		return m.pools.find(r.pool)
	}
	return nil
}
