package state

import (
	"slices"

	"gcity/tui/panel"
)

// CityText is the subject of a reader that shows the city. The cursor is on one of the problems that have rows.
type CityText struct {
	action, row string // of the problem that the user has selected; "" = none
}

// SelectedProblem returns the problem under the cursor of the open reader, or nil.
func SelectedProblem(m *Room) *panel.Alert {
	t, ok := m.Dialogs.Subject().(*CityText)
	if !ok {
		return nil
	}
	all, at := t.problems(m)
	if len(all) == 0 {
		return nil
	}
	return &all[at]
}

// Cursor returns the FirstRow of the problem under the cursor, or "" if there is nothing to choose from.
func (t *CityText) Cursor(m *Room) string {
	all, at := t.problems(m)
	if len(all) < 2 {
		return ""
	}
	return all[at].FirstRow()
}

// Select moves the cursor by n problems. It reports whether there is such a problem.
func (t *CityText) Select(m *Room, n int) bool {
	all, at := t.problems(m)
	if at += n; at < 0 || at >= len(all) {
		return false
	}
	t.action, t.row = all[at].Action, all[at].Rows[0]
	return true
}

func (t *CityText) problems(m *Room) (all []panel.Alert, at int) {
	all = slices.DeleteFunc(Alerts(m), func(a panel.Alert) bool { return len(a.Rows) == 0 })
	at = slices.IndexFunc(all, func(a panel.Alert) bool {
		return a.Action == t.action && slices.Contains(a.Rows, t.row)
	})
	return all, max(0, at)
}
