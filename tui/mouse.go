package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/view"
	"gcity/tui/widget"
)

const doubleClick = 400 * time.Millisecond

// wheelBatch is how long wheel events are collected. Terminals can send them faster than the room can draw.
const wheelBatch = 16 * time.Millisecond

// wheel is a turn of the mouse wheel: the pointer's position, and notches downwards.
type wheel struct{ x, y, notches int }

func handlePointer(m *state.Room, msg any) (todo []feed.Effect) {
	m.UI++
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		m.UserActed()
		return click(m, msg)
	case wheel:
		m.UserActed()
		scrollWheel(m, msg)
	case tea.PasteMsg:
		paste(m, msg.Content)
	}
	return nil
}

func click(m *state.Room, c tea.MouseClickMsg) []feed.Effect {
	last := m.Pressed
	m.Pressed = state.Press{At: m.Now, X: c.X, Y: c.Y}
	double := last.X == c.X && last.Y == c.Y && m.Now.Sub(last.At) <= doubleClick
	if double {
		m.Pressed = state.Press{}
		if last.ClosedTarget {
			return nil
		}
	}
	if c.Button == tea.MouseLeft && (m.Dialogs.Choice() != nil || m.Dialogs.Finder() != nil) {
		before := m.Dialogs.Top()
		todo := clickOverlay(m, c.X, c.Y, double)
		m.Pressed.ClosedTarget = m.Dialogs.Top() != before
		return todo
	}
	if m.FleetRoom {
		return clickFleet(m, c, double)
	}
	a := state.AreaAt(m, c.X, c.Y)
	if a == nil || c.Button != tea.MouseLeft || state.Covered(m) || a.Panel == panel.IDDetail {
		return nil
	}
	if c.Y == a.Y {
		if p := widget.TabAt(view.TabsFor(m, a.Place, a.W), c.X-a.X); p != "" {
			state.FocusOn(m, panel.ID(p))
			if double {
				return perform(m, m.Keys.ByID("view.zoom"))
			}
			return nil
		}
	}
	state.FocusOn(m, a.Panel)
	if c.Y == a.Y+1 && a.Panel != panel.IDPeek && m.Focused().Headed(m.Env(), a.W, a.H) {
		if way := m.Focused().OrderAt(m.Env(), a.W, c.X-a.X); way >= 0 {
			actions.SortBy(m, way)
		}
		return nil
	}
	if row := c.Y - a.Y - 1; row >= 0 && !moveCursorTo(m, a, row) && a.Panel != panel.IDPeek {
		return nil
	}
	if !double {
		return nil
	}
	return openRow(m, a.Panel)
}

// clickOverlay handles a click while a question or a list is open. It ignores clicks outside of the dialog's rows, so
// that no question is closed by accident.
func clickOverlay(m *state.Room, x, y int, double bool) []feed.Effect {
	shown := m.Overlay()
	left, top, h := view.OverlayPosition(m, len(shown.Lines), shown.W)
	row := y - top - 1
	if x <= left || x >= left+shown.W-1 || row < 0 || row >= h-2 {
		return nil
	}
	if c := m.Dialogs.Choice(); c != nil {
		if !c.Accepts("", true, m.Now) {
			return nil
		}
		return m.RunTasks(c.Click(row, func() { m.Dialogs.Close(c) }))
	}
	if f := m.Dialogs.Finder(); f.Click(row, len(shown.Lines)) && double {
		return actions.RunFound(m)
	}
	return nil
}

// openRow opens a row's details, and never attaches to an agent: detaching needs the keyboard.
func openRow(m *state.Room, p panel.ID) []feed.Effect {
	if p == panel.IDPeek {
		return perform(m, m.Keys.ByID("view.zoom"))
	}
	return perform(m, m.Keys.ByID(m.PanelOf(p).About().Opens))
}

func moveCursorTo(m *state.Room, a *state.Area, row int) bool {
	if a.Panel == panel.IDPeek {
		return false
	}
	p := m.PanelOf(a.Panel)
	if p.Headed(m.Env(), a.W, a.H) {
		row--
	}
	cursor, offset, shown, _ := p.Cursor()
	at := offset + row
	if row < 0 || at >= shown {
		return false
	}
	state.Step(m, at-cursor)
	return true
}

func scrollWheel(m *state.Room, w wheel) {
	// lines of text per notch
	const lines = 3
	switch {
	case m.Dialogs.Choice() != nil || m.Typing():
		return
	case m.Dialogs.Covers():
		m.Dialogs.Top().Wheel(w.notches, m.Canvas())
		return
	}
	if m.FleetRoom {
		state.StepFleet(m, w.notches)
		return
	}
	a := state.AreaAt(m, w.x, w.y)
	if a == nil || a.Panel == panel.IDDetail {
		return
	}
	if a.Panel == panel.IDPeek {
		cols, rows := state.PaneRoom(m)
		m.Peek.Scroll(lines*w.notches, cols, rows)
		return
	}
	focus := m.Focus
	m.Focus = a.Panel
	n := w.notches
	if a.Panel == panel.IDEvents {
		n *= lines
	}
	state.Step(m, n)
	m.Focus = focus
}

// addWheel adds an event to the batch. If it returns true, the event is the first one, and the caller must start the
// timer.
func (r *room) addWheel(e tea.MouseWheelMsg) bool {
	n := 1
	switch e.Button {
	case tea.MouseWheelUp:
		n = -1
	case tea.MouseWheelDown:
	default:
		return false
	}
	r.wheel = wheel{e.X, e.Y, r.wheel.notches + n}
	first := !r.wheelTimer
	r.wheelTimer = true
	return first
}

type wheelExpired struct{}

func (r *room) mouse(msg tea.Msg) (cmd tea.Cmd, ok bool) {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if r.addWheel(msg) {
			cmd = tea.Tick(wheelBatch, func(time.Time) tea.Msg { return wheelExpired{} })
		}
	case wheelExpired:
		w := r.wheel
		r.wheel, r.wheelTimer = wheel{}, false
		cmd = r.runEffects(handle(r.m, r.r.Now(), w))
	case tea.MouseClickMsg:
		cmd = r.runEffects(handle(r.m, r.r.Now(), msg))
	case tea.MouseReleaseMsg, tea.MouseMotionMsg:
	default:
		return nil, false
	}
	return cmd, true
}

func clickFleet(m *state.Room, c tea.MouseClickMsg, double bool) []feed.Effect {
	at := view.PlanFleet(m)
	row := c.Y - at.Header - 1
	switch {
	case c.Button != tea.MouseLeft || state.Covered(m):
		return nil
	case row >= 0 && row < at.Cities-1:
		if view.FleetHasHeadings(m, m.W, at.Cities) {
			row--
		}
		if row < 0 || row+m.Cities.List.Offset >= len(m.Cities.List.Shown) {
			return nil
		}
		row += m.Cities.List.Offset
		m.OnNeeds = false
		m.Cities.Move(row - m.Cities.List.Cursor)
	default:
		row -= at.Cities
		if row < 0 || row >= at.Needs-1 || row+m.NeedOffset >= len(state.AllNeeds(m)) {
			return nil
		}
		row += m.NeedOffset
		m.OnNeeds = true
		state.MoveNeeds(m, row-m.NeedCursor)
	}
	if double {
		return perform(m, m.Keys.ByID("fleet.open"))
	}
	return nil
}
