package tui

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// sortActions returns the actions that change the order of the focused list.
func sortActions(all []panel.Panel) []action {
	lists := panel.ZonesOf(all, func(a *panel.About) bool { return !a.Unmarked })
	return []action{
		{ID: "list.sort",
			Key: keymap.Bind("sort the list by the next column",
				"o"), In: lists, Why: needSorted,
			Run: sortNext},
		{ID: "list.reverse", Key: keymap.Bind("reverse the order of the list", "O"), In: lists,
			Why: needSorted, Run: sortReverse},
	}
}

func needSorted(m *model) string {
	if o, _ := m.focused().Sorting(m.now); o == nil {
		return "this list has only one order"
	}
	return ""
}

func sortNext(m *model) []feed.Effect {
	w := m.w
	for _, a := range areas(m) {
		if a.panel == m.focus {
			w = a.w
		}
	}
	sortBy(m, m.focused().NextOrder(m.env(), w))
	return nil
}

func sortReverse(m *model) []feed.Effect {
	o, _ := m.focused().Sorting(m.now)
	sortBy(m, o.Way)
	return nil
}

// sortBy sorts the focused list by a column. Sorting by the same column again reverses the order.
func sortBy(m *model, way int) {
	o, ways := m.focused().Sorting(m.now)
	*o = widget.Order{Way: way, Reversed: o.Way == way && !o.Reversed}
	m.resort()
	say(m, "sorted by "+widget.OrderText(*o, ways))
}
