package tui

import (
	"gcity/tui/panel"
	"gcity/tui/widget"
	"strings"
)

// area is the position of a panel on the screen.
type area struct {
	place
	x, y, w int
}

// areas returns the visible panels.
func areas(m *model) []area {
	p := m.plan()
	var all []area
	stack := func(places []place, x, y, w int) {
		for _, at := range places {
			all = append(all, area{at, x, y, w})
			y += at.h
		}
	}
	top := 1 + p.problems
	stack(p.above, 0, top, m.w)
	for _, at := range p.above {
		top += at.h
	}
	stack(p.left, 0, top, p.leftWidth)
	stack(p.right, p.leftWidth+1, top, m.w-p.leftWidth-1)
	stack(p.across, 0, top+p.topRows, m.w)
	return all
}

func areaAt(m *model, x, y int) *area {
	for _, a := range areas(m) {
		if x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h {
			return &a
		}
	}
	return nil
}

// covered reports whether a dialog covers the panels or a line is being typed. A click is then not for the panels.
func covered(m *model) bool {
	return m.dialogs.covers() || m.typing()
}

// paneRoom returns the columns and rows for the terminal in the pane. If the pane is hidden, it returns the screen's.
func paneRoom(m *model) (w, h int) {
	p := m.plan()
	for _, stack := range []struct {
		places []place
		w      int
	}{{p.left, p.leftWidth}, {p.right, m.w - p.leftWidth - 1}, {p.across, m.w}} {
		for _, at := range stack.places {
			if at.panel == panel.IDPeek {
				return max(1, stack.w-1), peekRows(m, at.h)
			}
		}
	}
	return max(1, m.w-1), max(1, m.h)
}

// peekRows returns how many rows of the terminal a pane of h lines shows. An ended agent needs a line for the file
// with its output.
func peekRows(m *model, h int) int {
	if r := selected(m); r != nil && r.Keeps() && h > 4 && !showsRun(m) {
		return h - 2
	}
	return max(1, h-1)
}

func dismisses(m *model) string { return "  " + m.keys.KeyOf("view.back") + " dismisses" }

// failureParts wraps a failure into rows, or returns nil.
func failureParts(m *model, w int) []string {
	if !m.status.failed || m.typing() || w < 40 {
		return nil
	}
	parts := widget.Wrap(m.status.text, w-4)
	if last := len(parts) - 1; widget.Width(parts[last])+3+widget.Width(dismisses(m)) > w {
		parts = append(parts, "")
	}
	if most := max(2, m.h/8); len(parts) > most {
		parts[most-1] = strings.Join(parts[most-1:], " ")
		parts = parts[:most]
	}
	return parts
}

// present reports whether a panel is visible. Some panels are visible only while they list something or have the focus.
func (m *model) present(p panel.Panel) bool {
	_, _, _, n := p.Cursor()
	return !p.About().Optional || n > 0 || m.focus == p.About().ID
}
