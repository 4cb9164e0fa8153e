package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// doubleClick is the maximum time between the clicks of a double click.
const doubleClick = 400 * time.Millisecond

// together is how long wheel events are collected before they are applied: terminals send more events than can be
// shown.
const together = 16 * time.Millisecond

// wheel is how far the wheel was turned, in notches downwards, and where.
type wheel struct{ x, y, notches int }

// hand handles pastes and the mouse.
func hand(m *model, msg any) (todo []feed.Effect) {
	m.UI++
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		m.keyed = m.now
		return click(m, msg)
	case wheel:
		m.keyed = m.now
		roll(m, msg)
	case tea.PasteMsg:
		paste(m, msg.Content)
	}
	return nil
}

// click handles a click on a tab, a column heading, a panel or a row. A double click opens the row, or zooms the panel.
func click(m *model, c tea.MouseClickMsg) []feed.Effect {
	last := m.pressed
	m.pressed = press{at: m.now, x: c.X, y: c.Y}
	double := last.x == c.X && last.y == c.Y && m.now.Sub(last.at) <= doubleClick
	if double {
		m.pressed = press{}
		if last.shut {
			return nil
		}
	}
	if c.Button == tea.MouseLeft && (m.dialogs.choice() != nil || m.dialogs.finder() != nil) {
		todo := clickSheet(m, c.X, c.Y, double)
		m.pressed.shut = m.dialogs.choice() == nil && m.dialogs.finder() == nil
		return todo
	}
	if m.fleetRoom {
		return clickFleet(m, c, double)
	}
	a := areaAt(m, c.X, c.Y)
	if a == nil || c.Button != tea.MouseLeft || covered(m) || a.panel == panel.IDDetail {
		return nil
	}
	if c.Y == a.y {
		if p := widget.TabAt(tabsFor(m, a.place, a.w), c.X-a.x); p != "" {
			focusOn(m, panel.ID(p))
			if double {
				return perform(m, m.keys.ByID("view.zoom"))
			}
			return nil
		}
	}
	focusOn(m, a.panel)
	if c.Y == a.y+1 && a.panel != panel.IDPeek && m.focused().Headed(m.env(), a.w, a.h) {
		if way := m.focused().OrderAt(m.env(), a.w, c.X-a.x); way >= 0 {
			sortBy(m, way)
		}
		return nil
	}
	if row := c.Y - a.y - 1; row >= 0 && !point(m, a, row) && a.panel != panel.IDPeek {
		return nil
	}
	if !double {
		return nil
	}
	return unfold(m, a.panel)
}

// clickSheet chooses the clicked answer, or moves the cursor to a row of a list. A double click runs the row. Other
// clicks do nothing, so that no question closes by accident.
func clickSheet(m *model, x, y int, double bool) []feed.Effect {
	_, lines, w, _, _ := sheetContent(m)
	left, top, h := sheetPlace(m, len(lines), w)
	row := y - top - 1
	if x <= left || x >= left+w-1 || row < 0 || row >= h-2 {
		return nil
	}
	if c := m.dialogs.choice(); c != nil {
		if !c.Accepts("", m.now) {
			return nil
		}
		return m.runTasks(c.Click(row, func() { m.dialogs.Close(c) }))
	}
	if f := m.dialogs.finder(); f.Click(row, len(lines)) && double {
		return runFound(m)
	}
	return nil
}

// unfold runs the action of the enter key in a panel, but never attaches, because a mouse user may not be at the
// keyboard.
func unfold(m *model, p panel.ID) []feed.Effect {
	if p == panel.IDPeek {
		return perform(m, m.keys.ByID("view.zoom"))
	}
	return perform(m, m.keys.ByID(m.panelOf(p).About().Opens))
}

// point moves the cursor to a row of a panel. It returns false if the row does not exist.
func point(m *model, a *area, row int) bool {
	if a.panel == panel.IDPeek {
		return false
	}
	p := m.panelOf(a.panel)
	if p.Headed(m.env(), a.w, a.h) {
		row--
	}
	cursor, offset, shown, _ := p.Cursor()
	at := offset + row
	if row < 0 || at >= shown {
		return false
	}
	step(m, at-cursor)
	return true
}

// roll scrolls the panel or text under the pointer; the focus does not change.
func roll(m *model, w wheel) {
	const lines = 3 // lines per notch; most lists move by one row
	switch {
	case m.dialogs.choice() != nil || m.typing():
		return
	case m.dialogs.covers():
		m.dialogs.Top().Wheel(w.notches, m.canvas())
		return
	}
	if m.fleetRoom {
		stepFleet(m, w.notches)
		return
	}
	a := areaAt(m, w.x, w.y)
	if a == nil || a.panel == panel.IDDetail {
		return
	}
	if a.panel == panel.IDPeek {
		cols, rows := paneRoom(m)
		m.peek.Scroll(lines*w.notches, cols, rows)
		return
	}
	focus := m.focus
	m.focus = a.panel
	n := w.notches
	if a.panel == panel.IDEvents {
		n *= lines
	}
	step(m, n)
	m.focus = focus
}

// turned collects wheel events. It reports whether this event is the first of a batch; the caller then starts a timer.
func (r *room) turned(e tea.MouseWheelMsg) bool {
	n := 1
	switch e.Button {
	case tea.MouseWheelUp:
		n = -1
	case tea.MouseWheelDown:
	default:
		return false
	}
	r.wheel = wheel{e.X, e.Y, r.wheel.notches + n}
	first := !r.turning
	r.turning = true
	return first
}

// gathered is sent when the timer for wheel events has ended.
type gathered struct{}

// mouse handles mouse messages; ok is false for any other message.
func (r *room) mouse(msg tea.Msg) (cmd tea.Cmd, ok bool) {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if r.turned(msg) {
			cmd = tea.Tick(together, func(time.Time) tea.Msg { return gathered{} })
		}
	case gathered:
		w := r.wheel
		r.wheel, r.turning = wheel{}, false
		cmd = r.carryOut(handle(r.m, r.r.Now(), w))
	case tea.MouseClickMsg:
		cmd = r.carryOut(handle(r.m, r.r.Now(), msg))
	case tea.MouseReleaseMsg, tea.MouseMotionMsg: // ignored
	default:
		return nil, false
	}
	return cmd, true
}

// clickFleet moves the cursor to the clicked row; a double click opens it.
func clickFleet(m *model, c tea.MouseClickMsg, double bool) []feed.Effect {
	at := planFleet(m)
	row := c.Y - at.head - 1
	switch {
	case c.Button != tea.MouseLeft || covered(m):
		return nil
	case row >= 0 && row < at.cities-1:
		if fleetHeaded(m, m.w, at.cities) {
			row--
		}
		if row < 0 || row+m.cities.List.Offset >= len(m.cities.List.Shown) {
			return nil
		}
		row += m.cities.List.Offset
		m.onNeeds = false
		m.cities.Move(row - m.cities.List.Cursor)
	default:
		row -= at.cities
		if row < 0 || row >= at.needs-1 || row+m.needOffset >= len(allNeeds(m)) {
			return nil
		}
		row += m.needOffset
		m.onNeeds = true
		moveNeeds(m, row-m.needAt)
	}
	if double {
		return perform(m, m.keys.ByID("fleet.open"))
	}
	return nil
}
