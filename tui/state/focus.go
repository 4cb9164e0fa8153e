package state

import (
	"strings"

	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Step moves the focused panel's cursor, or scrolls the pane.
func Step(m *Room, n int) {
	if m.Focus == panel.IDPeek {
		w, h := PaneRoom(m)
		m.Peek.Scroll(max(-widget.Unlimited, n), w, h)
		return
	}
	p := m.Focused()
	p.Move(n)
	if p == panel.Panel(m.Agents) {
		selectionMoved(m)
	}
	if p == panel.Panel(m.Events) && n < 0 {
		loadOlder(m)
	}
}

// SelectBestMatch moves the cursor to the row with the best matching name, because a filter also matches other columns.
// If stays is true, the cursor moves only to a row that matches better than its own.
func SelectBestMatch(m *Room, filter string, stays bool) {
	words, p := strings.Fields(strings.ToLower(filter)), m.Focused()
	if len(words) == 0 || m.Focus == panel.IDPeek || m.Focus == panel.IDEvents {
		return
	}
	word := strings.TrimPrefix(words[0], "name:")
	at, _, shown, _ := p.Cursor()
	best, rank := at, nameRank(p.Key(), word)
	if !stays {
		best, rank = 0, noMatch+1
	}
	Step(m, -widget.Unlimited)
	for i := range shown {
		if r := nameRank(p.Key(), word); r < rank {
			best, rank = i, r
		}
		Step(m, 1)
	}
	at, _, _, _ = p.Cursor()
	Step(m, best-at)
}

// noMatch is the rank of a name that does not contain the word.
const noMatch = 3

// nameRank returns how well a name matches a word; smaller is better.
func nameRank(name, word string) int {
	name = strings.ToLower(name)
	_, bare, _ := strings.Cut(name, "/")
	switch {
	case name == word || bare == word:
		return 0
	case widget.HasNamePrefix(name, word):
		return 1
	case strings.Contains(name, word):
		return 2
	}
	return noMatch
}

// MoveToEnd moves the cursor to the last row or, if the pane has the focus, makes the pane follow the output again.
func MoveToEnd(m *Room) {
	if m.Focus == panel.IDPeek {
		m.Peek.Follow()
		return
	}
	Step(m, widget.Unlimited)
}

// FocusOn moves the focus to a panel and ends the zoom of the previous panel.
func FocusOn(m *Room, p panel.ID) {
	if m.Led != "" && p != m.Led && p != panel.IDPeek {
		*m.PanelOf(m.Led).Query(), m.Led = widget.Filter{}, ""
		m.Refill()
	}
	if m.Focus != p {
		m.Zoomed = false
		m.PreviousFocus = m.Focus
		if p != panel.IDPeek {
			m.PanelOf(p).Entered()
		}
	}
	if m.Focus = p; p != panel.IDPeek {
		m.FilterSource = ""
	}
	if m.Focused().About().InSlot || p == panel.IDEvents {
		m.lastShared = p
	}
	UpdatePane(m)
	if p == panel.IDPeek {
		m.Hidden = false
	}
}

// RefilterEvents reapplies the filters of Events.
func RefilterEvents(m *Room) { m.Events.Refill(m.Env(), nil) }

func loadOlder(m *Room) {
	t := m.Events
	if t.List.Cursor > 0 || t.Asked != 0 || !t.HasOlder() {
		return
	}
	m.Requests++
	t.Asked = m.Requests
	m.Todo = append(m.Todo, feed.LoadHistory{ID: t.Asked, Before: t.Rows[0].Event.Seq})
}

// AddOlderEvents handles the result of loading older events.
func AddOlderEvents(m *Room, d feed.LoadedHistory) {
	t := m.Events
	if d.ID != t.Asked {
		return
	}
	t.Asked = 0
	m.UI++
	if d.Problem != "" {
		ShowFailure(m, "cannot load older events: "+widget.Plain(d.Problem))
		return
	}
	t.AtOldest = d.Complete
	before := len(t.List.Shown)
	t.Older(d.Events)
	if len(t.List.Shown) == before && m.Focus == panel.IDEvents {
		loadOlder(m)
	}
}
