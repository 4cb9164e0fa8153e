package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// room lets Bubble Tea turn the model: it stamps messages with the time and hands effects to the runner.
type room struct {
	m    *model
	r    *runner
	keep string // file that keeps how the room was left
	tour *tour  // nil = there is one city
	post func(s *station)
	next effect // attach, page, edit or finish: why the program was told to quit

	wheel   wheel // turned since it was last told of
	turning bool  // somebody waits for it to end
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
	if _, ours := msg.(tea.KeyPressMsg); ours {
		r.r.top().handed.Store(false)
	}
	if d, ok := msg.(*delivery); ok {
		d.heard.Store(true)
		if r.tour != nil && d.of != r.tour.here { // it was on its way when that room was left
			d.of.missed = append(d.of.missed, &delivery{of: d.of, at: d.at, news: d.news})
			return r, nil
		}
		cmd := r.carryOut(r.m.update(d.at, d.news))
		if a := d.news.arrival; a != nil && a.id == r.m.going.id {
			cmd = tea.Sequence(cmd, r.arrive(a))
		}
		return r, cmd
	}
	if cmd, ok := r.mouse(msg); ok {
		return r, cmd
	}
	return r, r.carryOut(r.m.update(r.r.now(), msg))
}

func (r *room) carryOut(todo []effect) tea.Cmd {
	var cmd tea.Cmd
	for _, e := range todo {
		switch e := e.(type) {
		case glance:
			cmd = tea.RequestBackgroundColor
		case remember:
			r.r.remember(r.keep, e)
		case perform:
			r.r.perform(e)
		case dispatch:
			r.r.dispatch(e)
		case seek:
			r.r.seek(e)
		case inspect:
			r.r.inspect(e)
		case dig:
			r.r.dig(e)
		case watch:
			r.r.watch(e)
		case clip:
			if e.program {
				r.r.clip(e)
			} else {
				cmd = tea.Raw(clipSequence(e.text, r.r.tmux))
			}
		case redraw:
			cmd = tea.ClearScreen
		case save:
			r.r.save(e)
		case enforce:
			r.r.enforce(e)
		case discard:
			r.r.discard(e)
		case travel:
			r.r.travel(e)
		case steer:
			r.r.steer(e)
		case enroll:
			r.r.enroll(e)
		case dismiss:
			r.r.dismiss(e)
		case attach, page, edit, finish:
			_, over := e.(finish)
			r.r.top().handed.Store(!over)
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
	for i, l := range s.lines { // what a line does not reach is blank, and costs nothing then
		s.lines[i] = strings.TrimRight(l, " ")
	}
	v = tea.NewView(strings.Join(s.lines, "\n"))
	v.AltScreen = true
	if r.m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = cityName(r.m) + " - gcity"
	if r.m.lobby {
		v.WindowTitle = "all cities - gcity"
	}
	if s.x >= 0 {
		v.Cursor = tea.NewCursor(s.x, s.y)
	}
	return v
}
