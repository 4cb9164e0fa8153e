package tui

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// markActions returns the actions that mark rows of a list.
func markActions(all []panel.Panel) []action {
	lists := panel.ZonesOf(all, func(a *panel.About) bool { return !a.Unmarked })
	return []action{
		{ID: "agent.mark", Key: keymap.Bind("mark the row; verbs act on all marked rows",
			"space"), In: lists, Why: needRow, Run: mark},
		{ID: "agent.mark.range", Key: keymap.Bind("mark all rows from the last mark to here", "v"),
			In: lists, Why: needRow, Run: markRange},
		{ID: "agent.mark.all", Key: keymap.Bind("mark all rows shown, or none", "*"), In: lists,
			Why: needRow, Run: markAll},
	}
}

// set marks rows. It drops an undo that would restore cleared marks. It creates a new map, so a saved reference to
// the old map keeps its content.
func set(m *model, k panel.Marking, ids ...string) {
	if m.undo.restore != nil {
		m.undo = undo{}
	}
	*k.Marks = cloned(*k.Marks)
	for _, id := range ids {
		(*k.Marks)[id] = true
	}
}

func needRow(m *model) string {
	k := marking(m)
	if k.Here() == "" {
		return "the list is empty"
	}
	return ""
}

func mark(m *model) []feed.Effect {
	k := marking(m)
	id := k.Here()
	if (*k.Marks)[id] {
		*k.Marks = cloned(*k.Marks)
		delete(*k.Marks, id)
		*k.Anchor = ""
	} else {
		set(m, k, id)
		*k.Anchor = id
	}
	step(m, 1)
	return nil
}

// markRange marks from the last mark to the cursor. Without a visible mark it marks the row under the cursor.
func markRange(m *model) []feed.Effect {
	k := marking(m)
	from := k.List.Cursor
	for at, i := range k.List.Shown {
		if k.Rows.ID(i) == *k.Anchor {
			from = at
		}
	}
	var ids []string
	for at := min(from, k.List.Cursor); at <= max(from, k.List.Cursor); at++ {
		ids = append(ids, k.Rows.ID(k.List.Shown[at]))
	}
	set(m, k, ids...)
	*k.Anchor = k.Here()
	return nil
}

func markAll(m *model) []feed.Effect {
	k := marking(m)
	before := len(*k.Marks)
	ids := make([]string, 0, len(k.List.Shown))
	for _, i := range k.List.Shown {
		ids = append(ids, k.Rows.ID(i))
	}
	old := *k.Marks
	set(m, k, ids...)
	*k.Anchor = ""
	if len(*k.Marks) == before {
		*k.Marks = old
		unmarkAll(m, k)
	}
	return nil
}

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
