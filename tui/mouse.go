package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
)

// doubleClick is how soon a second click at the same place counts as one with the first.
const doubleClick = 400 * time.Millisecond

// together is how long turns of the wheel are gathered before they count: it sends more of them than can be seen.
const together = 16 * time.Millisecond

// wheel is how far the wheel was turned, in notches, downwards; and where.
type wheel struct{ x, y, notches int }

// press is the last click, for telling a double one.
type press struct {
	at   time.Time
	x, y int
	shut bool // it closed what it pointed at: a second one there is not about what was behind
}

// mouseActions take the mouse and give it back.
func mouseActions() []action {
	return []action{
		{ID: "view.mouse",
			Key: keymap.Bind("mouse: take it for clicks and wheel, or give it back to the terminal",
				"M"), In: []keymap.Zone{keymap.Everywhere},
			Run: toggleMouse},
	}
}

func toggleMouse(m *model) []feed.Effect {
	m.mouse = !m.mouse
	if !m.mouse {
		say(m, "the mouse is the terminal's again")
		return nil
	}
	say(m, "the mouse clicks and scrolls here; shift held down selects text "+
		"as before, "+m.keys.KeyNow("view.mouse")+" gives it back")
	return nil
}

// area is where a panel is on the screen.
type area struct {
	place
	x, y, w int
}

// areas are the panels that are seen.
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
	stack(p.left, 0, top, p.leftWidth)
	stack(p.right, p.leftWidth+1, top, m.w-p.leftWidth-1)
	stack(p.across, 0, top+p.topRows, m.w)
	return all
}

// areaAt is the panel at a cell, nil if none is there.
func areaAt(m *model, x, y int) *area {
	for _, a := range areas(m) {
		if x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h {
			return &a
		}
	}
	return nil
}

// covered reports whether something lies over the panels, or a line is typed: then a click is not about them.
func covered(m *model) bool {
	return m.dialogs.covers() || listOpen(m) || m.typing()
}

// listed reports whether a list in a sheet of its own lies over the panels.
func listOpen(m *model) bool { return m.dialogs.list() != nil }

// hand is what a hand does besides pressing keys.
func hand(m *model, msg any) (todo []feed.Effect) {
	m.ui++
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		m.keyed = m.now
		return click(m, msg)
	case wheel:
		m.keyed = m.now
		roll(m, msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	}
	return nil
}

// click goes where it points: a tab, a panel, a row; twice at the same place it opens what is there, or zooms the
// panel.
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
	if m.lobby {
		return clickFleet(m, c, double)
	}
	a := areaAt(m, c.X, c.Y)
	if a == nil || c.Button != tea.MouseLeft || covered(m) || a.panel == panel.IDDetail {
		return nil
	}
	if c.Y == a.y {
		if p, ok := tabAt(m, a, c.X-a.x); ok {
			focusOn(m, p)
			if double {
				return m.perform(m.keys.ByID("view.zoom"))
			}
			return nil
		}
	}
	focusOn(m, a.panel)
	if row := c.Y - a.y - 1; row >= 0 && !point(m, a, row) && a.panel != panel.IDPeek {
		return nil
	}
	if !double {
		return nil
	}
	return unfold(m, a.panel)
}

// clickSheet takes the answer that is clicked, or puts the cursor on a row of a list, which a second click runs. Beside
// these nothing happens: nobody loses a question by a slip of the hand.
func clickSheet(m *model, x, y int, double bool) []feed.Effect {
	_, lines, w, _, _ := m.sheetContent()
	left, top, h := m.sheetPlace(len(lines), w)
	row := y - top - 1
	if x <= left || x >= left+w-1 || row < 0 || row >= h-2 {
		return nil
	}
	if c := m.dialogs.choice(); c != nil {
		if !c.Ready(m.now) {
			return nil
		}
		return m.runTasks(c.Click(row, func() { m.dialogs.Close(c) }))
	}
	if f := m.dialogs.finder(); f.Click(row, len(lines)) && double {
		return runFound(m)
	}
	return nil
}

// unfold does what enter does in a panel, but never attaches: a hand on the mouse is none on the keyboard.
func unfold(m *model, p panel.ID) []feed.Effect {
	if p == panel.IDPeek {
		return m.perform(m.keys.ByID("view.zoom"))
	}
	return m.perform(m.keys.ByID(m.panelOf(p).About().Opens))
}

// tabAt is the panel whose title is at a column of a rule.
func tabAt(m *model, a *area, x int) (panel.ID, bool) {
	at := 1
	for _, t := range m.tabsFor(a.place, a.w) {
		if n := t.Width(); x >= at && x < at+n {
			return panel.ID(t.ID), true
		} else {
			at += n + 2
		}
	}
	return "", false
}

// point puts the cursor on a row of a panel's place; it reports false if there is none.
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

// roll scrolls what is under the wheel; the focus stays where it is.
func roll(m *model, w wheel) {
	const lines = 3 // of a text for a notch; of a list of things, one
	switch {
	case m.dialogs.choice() != nil || m.typing():
		return
	case m.dialogs.covers():
		m.dialogs.Top().Wheel(w.notches, m.canvas())
		return
	case m.dialogs.list() != nil:
		m.dialogs.list().Wheel(w.notches, m.canvas())
		return
	}
	if m.lobby {
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

// turned gathers turns of the wheel; it reports whether the first of some has come, which somebody has to end.
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

// gathered is sent when the turns of the wheel have been gathered long enough.
type gathered struct{}

// mouse deals with what the mouse does; it reports false for any other message.
func (r *room) mouse(msg tea.Msg) (cmd tea.Cmd, ok bool) {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if r.turned(msg) {
			cmd = tea.Tick(together, func(time.Time) tea.Msg { return gathered{} })
		}
	case gathered:
		w := r.wheel
		r.wheel, r.turning = wheel{}, false
		cmd = r.carryOut(r.m.update(r.r.Now(), w))
	case tea.MouseClickMsg:
		cmd = r.carryOut(r.m.update(r.r.Now(), msg))
	case tea.MouseReleaseMsg, tea.MouseMotionMsg: // nothing follows from them
	default:
		return nil, false
	}
	return cmd, true
}
