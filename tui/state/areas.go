package state

import (
	"strings"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Area is the position of a panel on the screen.
type Area struct {
	Place
	X, Y, W int
}

// Areas returns the visible panels.
func Areas(m *Room) []Area {
	p := m.Plan()
	var all []Area
	stack := func(places []Place, x, y, w int) {
		for _, at := range places {
			all = append(all, Area{at, x, y, w})
			y += at.H
		}
	}
	top := 1 + p.Problems
	stack(p.Above, 0, top, m.W)
	for _, at := range p.Above {
		top += at.H
	}
	stack(p.Left, 0, top, p.LeftWidth)
	stack(p.Right, p.LeftWidth+1, top, m.W-p.LeftWidth-1)
	stack(p.Across, 0, top+p.topRows, m.W)
	return all
}

// AreaOf returns the position of a panel, or nil if it is not on the screen.
func AreaOf(m *Room, id panel.ID) *Area {
	return widget.First(Areas(m), func(a *Area) bool { return a.Panel == id })
}

// AreaAt returns the visible panel at a position on the screen, or nil.
func AreaAt(m *Room, x, y int) *Area {
	return widget.First(Areas(m), func(a *Area) bool {
		return x >= a.X && x < a.X+a.W && y >= a.Y && y < a.Y+a.H
	})
}

// Covered reports whether a dialog or an input line takes the clicks.
func Covered(m *Room) bool {
	return m.Dialogs.Covers() || m.Typing()
}

// PaneRoom returns the columns and rows for the terminal in the pane, or those of the screen if the pane is hidden.
func PaneRoom(m *Room) (w, h int) {
	if a := AreaOf(m, panel.IDPeek); a != nil {
		return max(1, a.W-1), PeekRows(m, a.H)
	}
	return max(1, m.W-1), max(1, m.H)
}

// PeekRows returns how many rows of the terminal fit into a pane of h lines.
func PeekRows(m *Room, h int) int {
	if r := Selected(m); r != nil && r.HasOutput() && h > 4 && !ShowsRun(m) {
		return h - 2
	}
	return max(1, h-1)
}

// DismissHint returns the hint on how to dismiss a failure in the status line.
func DismissHint(m *Room) string { return "  " + m.Keys.KeyText("view.back") + " dismisses" }

// StatusParts returns the text of the status line, split into rows, and the hint after the text.
func StatusParts(m *Room, w int) (parts []string, hint string) {
	s := &m.Status
	text := s.Text
	switch leaving := DepartureText(m); {
	case s.Failed:
		hint = DismissHint(m)
	case leaving != "":
		text, hint = leaving, "  "+m.Keys.KeyText(BackID)+" cancels"
	case text == "" || !s.Pending && m.Now.Sub(s.Since) > StatusDuration:
		return nil, ""
	default:
		hint = UndoHint(m)
	}
	if m.Typing() || w < 40 || widget.Width(text)+widget.Width(hint)+3 < w {
		return []string{text}, hint
	}
	parts = widget.Wrap(text, w-4)
	if last := len(parts) - 1; widget.Width(parts[last])+3+widget.Width(hint) > w {
		parts = append(parts, "")
	}
	if most := max(2, m.H/8); len(parts) > most {
		parts[most-1] = strings.Join(parts[most-1:], " ")
		parts = parts[:most]
	}
	return parts, hint
}

// FootHeight returns the number of rows of the status line and the footer.
func FootHeight(m *Room) int {
	status, footer := FootParts(m)
	rows := 0
	if status {
		parts, _ := StatusParts(m, m.W)
		rows = max(1, len(parts))
	}
	if footer {
		rows++
	}
	return rows
}

// FootParts reports whether the status line and the footer are shown.
func FootParts(m *Room) (status, footer bool) {
	if TierOf(m.W, m.H) != Single {
		return true, true
	}
	s := &m.Status
	status = m.Typing() || m.Departure.Leaves() || s.Failed || s.Pending ||
		s.Text != "" && m.Now.Sub(s.Since) < StatusDuration/4
	return status, !status
}

// Present reports whether a panel is available. An optional panel is available only if it has rows or the focus.
func (m *Room) Present(p panel.Panel) bool {
	_, _, _, n := p.Cursor()
	return !p.About().Optional || n > 0 || m.Focus == p.About().ID
}
