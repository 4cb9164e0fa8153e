package tui

import "gcity/tui/widget"

// sortActions change the order of the focused list.
func sortActions() []action {
	lists := []zone{inLists, inPools, inAutomations}
	return []action{
		{id: "list.sort", key: bind("sort the list by what comes next: need, name, age, cpu and others", "o"), in: lists, why: needSorted,
			run: (*model).sortNext},
		{id: "list.reverse", key: bind("reverse the order of the list", "O"), in: lists, why: needSorted, run: (*model).sortReverse},
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
