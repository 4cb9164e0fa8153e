package tui

import (
	"slices"
	"strings"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// relist rebuilds the lists from the snapshot.
func (m *model) relist() {
	e := m.env()
	for _, p := range m.Panels {
		p.Update(e)
	}
	firedEnded(m)
	runsChanged(m)
	dossierChanged(m)
	readFollowed(m)
	discount(m)
	m.keepUp()
}

// refill applies the filters after the user has changed them.
func (m *model) refill() { m.fill(func(panel.Panel) func(string) bool { return nil }) }

// keepUp applies the filters to new data. Rows in use stay until the cursor leaves them.
func (m *model) keepUp() { m.fill(m.holding) }

// holding returns a function that reports whether a row stays although it no longer matches. The row under the cursor
// stays. While the user works in the lists, all rows stay. A list that shows a part of another list holds rows only
// while it has the focus.
func (m *model) holding(p panel.Panel) func(id string) bool {
	here, chosen := !p.About().Part || m.focused() == p, p.Key()
	return func(id string) bool { return here && (id == chosen || m.handsOn()) }
}

func (m *model) fill(holding func(panel.Panel) func(id string) bool) {
	m.sifted = m.now.Unix()
	e := m.env()
	for _, p := range m.Panels {
		p.Refill(e, holding(p))
	}
	m.chooseVisible()
	m.followSubject()
}

// chooseVisible selects the agent under the cursor if the selected agent no longer exists or is no longer listed.
func (m *model) chooseVisible() {
	r := m.Agents.At(list(m))
	if r == nil {
		return
	}
	if selected(m) == nil ||
		m.focus != panel.IDPeek && !m.focused().About().Follows && !m.visible(m.Agents.Chosen) {
		chooseFor(m, r.Name)
	}
}

// followSubject selects the agent of the row under the cursor if the pane follows the focused panel.
func (m *model) followSubject() {
	p := m.focused()
	if name := p.Agent(); p.About().Follows && m.focus == p.About().ID && name != m.Agents.Chosen &&
		m.Agents.Has(name) {
		choose(m, name)
	}
}

// visible reports whether the focused list shows an agent.
func (m *model) visible(name string) bool {
	for _, i := range list(m).Shown {
		if m.Agents.Rows[i].Name == name {
			return true
		}
	}
	return false
}

// handsOn reports whether the user is working in the lists, so that rows must not move.
func (m *model) handsOn() bool { return m.now.Sub(m.keyed) < still }

// settledOrder reports whether the lists are correctly sorted and filtered. While the user works in them it returns
// true, because rows must not move.
func (m *model) settledOrder() bool {
	if m.handsOn() {
		return true
	}
	for _, p := range m.Panels {
		if !p.Settled(m.holding(p)) || !p.Sorted(m.now) {
			return false
		}
	}
	return true
}

// resort sorts the lists now, because the user asked for it.
func (m *model) resort() {
	for _, p := range m.Panels {
		p.Sort(m.now)
	}
	m.keepUp()
}

// orders returns the orders of all lists by panel name, for storage.
func (m *model) orders() map[string]string {
	all := map[string]string{}
	for _, p := range m.Panels {
		if o, ways := p.Sorting(m.now); o != nil && !p.About().Part {
			all[string(p.About().ID)] = widget.OrderText(*o, ways)
		}
	}
	return all
}

// setOrders restores stored orders and ignores unknown ones.
func (m *model) setOrders(kept map[string]string) {
	for _, p := range m.Panels {
		o, ways := p.Sorting(m.now)
		if o == nil || p.About().Part {
			continue
		}
		name, reversed := strings.CutSuffix(kept[string(p.About().ID)], " reversed")
		if i := slices.Index(ways, name); i >= 0 {
			*o = widget.Order{Way: i, Reversed: reversed}
		}
	}
	m.resort()
}
