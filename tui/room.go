package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// room lets Bubble Tea turn the model: it stamps messages with the time and hands effects to the runner.
type room struct {
	m    *model
	r    *runner
	next effect // attach or finish: why the program was told to quit
}

// delivery is what the pump brings.
type delivery struct {
	at   time.Time
	news news
}

func (r *room) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (r *room) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			r.r.crashed("update", p)
			cmd = tea.Quit
		}
	}()
	if d, ok := msg.(delivery); ok {
		return r, r.carryOut(r.m.update(d.at, d.news))
	}
	return r, r.carryOut(r.m.update(time.Now(), msg))
}

func (r *room) carryOut(todo []effect) tea.Cmd {
	var cmd tea.Cmd
	for _, e := range todo {
		switch e := e.(type) {
		case perform:
			r.r.perform(e)
		case seek:
			r.r.seek(e)
		case watch:
			r.r.watch(e)
		case redraw:
			cmd = tea.ClearScreen
		case attach, finish:
			r.next = e
			cmd = tea.Quit
		}
	}
	return cmd
}

// View implements tea.Model.
func (r *room) View() (v tea.View) {
	defer func() {
		if p := recover(); p != nil {
			r.r.crashed("view", p)
			v = tea.NewView("the control room has failed")
		}
	}()
	s := r.m.draw()
	v = tea.NewView(strings.Join(s.lines, "\n"))
	v.AltScreen = true
	v.WindowTitle = r.m.cityName() + " - gcity"
	if s.x >= 0 {
		v.Cursor = tea.NewCursor(s.x, s.y)
	}
	return v
}
