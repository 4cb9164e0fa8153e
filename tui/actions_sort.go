package tui

import (
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// sortActions change the order of the focused list.
func sortActions() []action {
	lists := []keymap.Zone{keymap.InLists, keymap.InPools, keymap.InAutomations}
	return []action{
		{ID: "list.sort",
			Key: keymap.Bind("sort the list by what comes next: need, name, age, cpu and others",
				"o"), In: lists, Why: needSorted,
			Run: (*model).sortNext},
		{ID: "list.reverse", Key: keymap.Bind("reverse the order of the list", "O"), In: lists,
			Why: needSorted, Run: (*model).sortReverse},
	}
}

func needSorted(m *model) string {
	if o, _ := m.sorting(); o == nil {
		return "only agents, pools and automations are sorted"
	}
	return ""
}

func (m *model) sortNext() []effect {
	o, ways := m.sorting()
	*o = widget.Order{Way: (o.Way + 1) % len(ways)}
	m.resort()
	return nil
}

func (m *model) sortReverse() []effect {
	o, _ := m.sorting()
	o.Reversed = !o.Reversed
	m.resort()
	return nil
}
