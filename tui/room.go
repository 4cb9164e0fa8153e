package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/view"
)

// room is the Bubble Tea model.
type room struct {
	m             *state.Room
	r             *feed.Runner
	stateFile     string
	switcher      *roomSwitcher // nil = there is one city
	startDelivery func(*feed.Runner)
	// effect after the program has quit
	exitEffect feed.Effect

	wheel      wheel
	wheelTimer bool
}

func (r *room) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (r *room) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			r.r.RecordPanic("update", p)
			model, cmd = r, tea.Quit // Bubble Tea draws the model again
		}
	}()
	if r.exitEffect != nil && isInput(msg) {
		return r, nil // input that arrives before the program has quit is not meant for the room
	}
	if _, ours := msg.(tea.KeyPressMsg); ours {
		r.r.Root().TerminalLent.Store(false)
	}
	if d, ok := msg.(*feed.Delivery); ok {
		d.Processed.Store(true)
		// the delivery's room is hidden: keep the delivery until that room is visible again
		if r.switcher != nil && d.Runner != r.switcher.current.r {
			d.Runner.Missed = append(d.Runner.Missed,
				&feed.Delivery{Runner: d.Runner, At: d.At, News: d.News})
			return r, nil
		}
		cmd := r.runEffects(handle(r.m, d.At, d.News))
		if a := d.News.OpenedCity; a != nil && a.ID == r.m.Switch.ID {
			cmd = tea.Sequence(cmd, r.showOpenedCity(a))
		}
		return r, cmd
	}
	if e, ok := msg.(feed.TakeTerminal); ok {
		if r.exitEffect == nil {
			r.exitEffect = e
		}
		return r, tea.Quit
	}
	if cmd, ok := r.mouse(msg); ok {
		return r, cmd
	}
	return r, r.runEffects(handle(r.m, r.r.Now(), msg))
}

func (r *room) runEffects(todo []feed.Effect) tea.Cmd {
	var cmd tea.Cmd
	for _, e := range todo {
		switch e := e.(type) {
		case feed.QueryBackground:
			cmd = tea.RequestBackgroundColor
		case feed.SaveRoom:
			r.r.SaveRoom(r.stateFile, e)
		case feed.Copy:
			if e.Program {
				r.r.Start(e)
			} else {
				cmd = tea.Raw(feed.ClipboardSequence(e.Text, r.r.Getenv))
			}
		case feed.Redraw:
			cmd = tea.ClearScreen
		case feed.SwitchCity:
			r.switcher.openCity(r.r, e)
		case feed.RefreshCities:
			if r.switcher != nil && r.switcher.watcher != nil {
				r.switcher.watcher.Refresh()
			}
		case feed.Attach, feed.ShowText, feed.Edit, feed.Quit:
			_, over := e.(feed.Quit)
			r.r.Root().TerminalLent.Store(!over)
			r.exitEffect = e
		default:
			r.r.Start(e)
		}
	}
	if r.exitEffect != nil {
		return tea.Quit
	}
	return cmd
}

// View implements tea.Model.
func (r *room) View() (v tea.View) {
	defer func() {
		if p := recover(); p != nil {
			r.r.RecordPanic("view", p)
			v = tea.NewView("the control room has failed")
		}
	}()
	s := view.Draw(r.m)
	for i, l := range s.Lines { // drop trailing spaces, so that less is written
		s.Lines[i] = strings.TrimRight(l, " ")
	}
	v = tea.NewView(strings.Join(s.Lines, "\n"))
	v.AltScreen = true
	if actions.UsesMouse(r.m) {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = state.CityTitle(r.m, 80) + " - gcity"
	if r.m.FleetRoom {
		v.WindowTitle = "all cities - gcity"
	}
	if s.X >= 0 {
		v.Cursor = tea.NewCursor(s.X, s.Y)
	}
	return v
}
