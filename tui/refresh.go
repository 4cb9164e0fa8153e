package tui

import (
	"slices"
	"strings"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// relist makes the lists anew from the snapshot.
func (m *model) relist() {
	e := m.env()
	for _, p := range m.Panels {
		p.Update(e)
	}
	firedEnded(m)
	runsChanged(m)
	workChanged(m)
	mailChanged(m)
	dossierChanged(m)
	readLetters(m)
	discount(m)
	m.keepUp()
}

// refill applies the filters anew, for the user has changed them.
func (m *model) refill() { m.fill(func(panel.Panel) func(string) bool { return nil }) }

// keepUp applies the filters to what is heard: what is worked with stays until the cursor leaves it.
func (m *model) keepUp() { m.fill(m.holding) }

// holding says which rows of a list stay that its filter leaves out by now: the one under the cursor, and, while
// the user works in the lists, all. A list that shows a part of another one holds them only while it has the focus.
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

// chooseVisible selects the agent under the cursor where the selected one is gone, or no longer in the list that is
// worked in.
func (m *model) chooseVisible() {
	r := m.Agents.At(list(m))
	if r == nil {
		return
	}
	if selected(m) == nil ||
		m.focus != panel.IDPeek && !m.focused().About().Follows && !m.visible(m.Agents.Chosen) {
		choose(m, r.Name)
	}
}

// followSubject selects the agent that the row under the cursor stands for, where the panel that has the focus wants
// that: the pane is about it.
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

// handsOn reports whether the user is at work in the lists, so that nothing may move there.
func (m *model) handsOn() bool { return m.now.Sub(m.keyed) < still }

// settledOrder reports whether the lists are in the order they should be in, and show what they should.
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

// resort puts the lists into their orders now: the user asked for it.
func (m *model) resort() {
	for _, p := range m.Panels {
		p.Sort(m.now)
	}
	m.keepUp()
}

// orders are those of all lists by the names of their panels, as they are kept from one visit to the next.
func (m *model) orders() map[string]string {
	all := map[string]string{}
	for _, p := range m.Panels {
		if o, ways := p.Sorting(m.now); o != nil && !p.About().Part {
			all[string(p.About().ID)] = widget.OrderText(*o, ways)
		}
	}
	return all
}

// setOrders takes back what orders gave; what is not understood leaves an order as it is.
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
