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
			Key: keymap.Bind("sort the list by the next key: need, name, age, cpu and others",
				"o"), In: lists, Why: needSorted,
			Run: sortNext},
		{ID: "list.reverse", Key: keymap.Bind("reverse the order of the list", "O"), In: lists,
			Why: needSorted, Run: sortReverse},
	}
}

func needSorted(m *model) string {
	if o, _ := m.focused().Sorting(m.now); o == nil {
		return "only agents, pools and automations can be sorted"
	}
	return ""
}

func sortNext(m *model) []feed.Effect {
	o, ways := m.focused().Sorting(m.now)
	*o = widget.Order{Way: (o.Way + 1) % len(ways)}
	m.resort()
	return nil
}

func sortReverse(m *model) []feed.Effect {
	o, _ := m.focused().Sorting(m.now)
	o.Reversed = !o.Reversed
	m.resort()
	return nil
}
