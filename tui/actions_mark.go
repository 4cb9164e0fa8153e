package tui

import (
	"gcity/city"
	"gcity/tui/keymap"
)

// markActions mark rows of a list, for verbs to act on all of them.
func markActions(all []Panel) []action {
	lists := zonesOf(all, func(a *about) bool { return !a.unmarked })
	return []action{
		{ID: "agent.mark", Key: keymap.Bind("mark the row; verbs act on all that are marked",
			"space"), In: lists, Why: needRow, Run: (*model).mark},
		{ID: "agent.mark.range", Key: keymap.Bind("mark all from the last mark to here", "v"),
			In: lists, Why: needRow, Run: (*model).markRange},
		{ID: "agent.mark.all", Key: keymap.Bind("mark all that are shown, or none", "*"), In: lists,
			Why: needRow, Run: (*model).markAll},
	}
}

// marking is that of the focused list, the agents' where none has the focus.
func (m *model) marking() marking { return m.focused().Marking() }

// set marks rows on top of those that are marked; who marks anew does not want older marks back. The map is a new one:
// whoever holds the old one keeps it.
func (m *model) set(k marking, ids ...string) {
	if m.undo.restore != nil {
		m.undo = undo{}
	}
	*k.marks = cloned(*k.marks)
	for _, id := range ids {
		(*k.marks)[id] = true
	}
}

func needRow(m *model) string {
	k := m.marking()
	if k.here() == "" {
		return "the list is empty"
	}
	return ""
}

func (m *model) mark() []effect {
	k := m.marking()
	id := k.here()
	if (*k.marks)[id] {
		*k.marks = cloned(*k.marks)
		delete(*k.marks, id)
		*k.anchor = ""
	} else {
		m.set(k, id)
		*k.anchor = id
	}
	m.step(1)
	return nil
}

// markRange marks from the last mark to the cursor; without one, or where the list no longer shows it, it begins here.
func (m *model) markRange() []effect {
	k := m.marking()
	from := k.list.Cursor
	for at, i := range k.list.Shown {
		if k.rows.ID(i) == *k.anchor {
			from = at
		}
	}
	var ids []string
	for at := min(from, k.list.Cursor); at <= max(from, k.list.Cursor); at++ {
		ids = append(ids, k.rows.ID(k.list.Shown[at]))
	}
	m.set(k, ids...)
	*k.anchor = k.here()
	return nil
}

func (m *model) markAll() []effect {
	k := m.marking()
	before := len(*k.marks)
	ids := make([]string, 0, len(k.list.Shown))
	for _, i := range k.list.Shown {
		ids = append(ids, k.rows.ID(i))
	}
	old := *k.marks
	m.set(k, ids...)
	*k.anchor = ""
	if len(*k.marks) == before {
		*k.marks = old
		m.unmarkAll(k)
	}
	return nil
}

// unmark clears the marks of a list that verbs were about; others, where what was done was named, stay.
func (m *model) unmark(commands []city.Command) {
	for _, c := range commands {
		if m.agents.Marks[c.Target()] {
			m.agents.Marks = map[string]bool{}
		}
		if m.pools.Marks[c.Target()] {
			m.pools.Marks = map[string]bool{}
		}
	}
}
