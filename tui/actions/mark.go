package actions

import (
	"fmt"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func markActions(all []panel.Panel) []state.Action {
	lists := panel.ZonesOf(all, func(a *panel.About) bool { return !a.NoMarks })
	return in([]state.Action{
		{ID: "agent.mark", Key: keymap.Bind("mark the row; actions apply to all marked rows",
			"space"), Why: needRow, Run: noEffects(mark)},
		{ID: "agent.mark.range", Key: keymap.Bind("mark all rows from the last mark to here", "v"),
			Why: needRow, Run: noEffects(markRange)},
		{ID: "agent.mark.all", Key: keymap.Bind("mark all visible rows, or none", "*"),
			Why: needRow, Run: noEffects(markAll)},
	}, lists...)
}

// Set marks rows. It copies the map of marks, because an undo might hold the old map.
func Set(m *state.Room, k panel.Marking, ids ...string) {
	if m.Undo.Restore != nil {
		m.Undo = state.Undo{}
	}
	*k.Marks = state.Cloned(*k.Marks)
	for _, id := range ids {
		(*k.Marks)[id] = true
	}
}

func needRow(m *state.Room) string {
	k := state.Marking(m)
	if k.Cursor() == "" {
		return "the list is empty"
	}
	return ""
}

func mark(m *state.Room) {
	k := state.Marking(m)
	id := k.Cursor()
	if (*k.Marks)[id] {
		*k.Marks = state.Cloned(*k.Marks)
		delete(*k.Marks, id)
		*k.Anchor = ""
	} else {
		Set(m, k, id)
		*k.Anchor = id
	}
	state.Step(m, 1)
}

func markRange(m *state.Room) {
	k := state.Marking(m)
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
	Set(m, k, ids...)
	*k.Anchor = k.Cursor()
}

func markAll(m *state.Room) {
	k := state.Marking(m)
	before := len(*k.Marks)
	ids := make([]string, 0, len(k.List.Shown))
	for _, i := range k.List.Shown {
		ids = append(ids, k.Rows.ID(i))
	}
	old := *k.Marks
	Set(m, k, ids...)
	*k.Anchor = ""
	if len(*k.Marks) == before {
		*k.Marks = old
		state.UnmarkAll(m, k)
	}
}

func sortActions(all []panel.Panel) []state.Action {
	lists := panel.ZonesOf(all, func(a *panel.About) bool { return !a.NoMarks })
	return in([]state.Action{
		{ID: "list.sort",
			Key: keymap.Bind("sort the list by the next column",
				"o"), Why: needSorted,
			Run: noEffects(sortNext)},
		{ID: "list.reverse", Key: keymap.Bind("reverse the order of the list", "O"),
			Why: needSorted, Run: noEffects(sortReverse)},
	}, lists...)
}

func needSorted(m *state.Room) string {
	switch o, _ := m.Focused().Sorting(m.Now); {
	case o == nil:
		return "this list has only one sort order"
	case m.Focused().About().Subset:
		return m.Focused().About().Title + " is sorted like Agents; press " +
			m.Keys.KeyText("focus.agents") + " and sort there"
	}
	return ""
}

func sortNext(m *state.Room) {
	w := m.W
	if a := state.AreaOf(m, m.Focus); a != nil {
		w = a.W
	}
	SortBy(m, m.Focused().NextOrder(m.Env(), w))
}

func sortReverse(m *state.Room) {
	o, _ := m.Focused().Sorting(m.Now)
	SortBy(m, o.Key)
}

// SortBy sorts the focused list by a column. Sorting by the same column again reverses the order.
func SortBy(m *state.Room, way int) {
	o, ways := m.Focused().Sorting(m.Now)
	*o = widget.Order{Key: way, Reversed: o.Key == way && !o.Reversed}
	m.Resort()
	text := fmt.Sprintf("sorted by %q", ways[way])
	if o.Reversed {
		text += ", in reverse"
	}
	state.ShowSuccess(m, text)
}
