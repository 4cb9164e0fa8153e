package actions

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func dialogActions() []state.Action {
	const far = widget.Unlimited
	c, r := []keymap.Zone{keymap.InChoice}, []keymap.Zone{keymap.InReader}
	pick := func(n int) func(*state.Room) []feed.Effect {
		return func(m *state.Room) []feed.Effect { m.Dialogs.Choice().Step(n); return nil }
	}
	cycle := func(n int) func(*state.Room) []feed.Effect {
		return func(m *state.Room) []feed.Effect { m.Dialogs.Choice().Cycle(n); return nil }
	}
	turn := func(n int) func(*state.Room) []feed.Effect {
		return func(m *state.Room) []feed.Effect {
			m.Dialogs.Reader().Scroll(n, m.Canvas())
			return nil
		}
	}
	return append([]state.Action{
		{ID: "choice.next", Key: keymap.Bind("next answer, then the first", "tab"), In: c,
			Run: cycle(1)},
		{ID: "choice.previous", In: c, Run: cycle(-1),
			Key: keymap.Bind("previous answer, then the last", "shift+tab")},
		{ID: "choice.down", Key: keymap.Bind("answer below", "down", "right"), In: c,
			Run: pick(1)},
		{ID: "choice.up", Key: keymap.Bind("answer above", "up", "left"), In: c, Run: pick(-1)},
		{ID: "choice.take", Key: keymap.Bind("choose the answer", "enter"), In: c, Run: takeAnswer},
		{ID: "choice.cancel", Key: keymap.Bind("cancel", "esc", "ctrl+c"), In: c,
			Run: func(m *state.Room) []feed.Effect {
				return m.RunTasks(m.Dialogs.Choice().Cancel(closeChoice(m)))
			}},

		{ID: "reader.down", Key: keymap.Bind("scroll down", "j", "down"), In: r, Run: turn(1)},
		{ID: "reader.up", Key: keymap.Bind("scroll up", "k", "up"), In: r, Run: turn(-1)},
		{ID: "reader.page.down", Key: keymap.Bind("a page down", "pgdown", "ctrl+d", "space"),
			In: r, Run: turn(10)},
		{ID: "reader.page.up", Key: keymap.Bind("a page up", "pgup", "ctrl+u"), In: r,
			Run: turn(-10)},
		{ID: "reader.first", Key: keymap.Bind("to the beginning", "g", "home"),
			In: r, Run: turn(-far)},
		{ID: "reader.last", Key: keymap.Bind("to the end", "G", "end"), In: r, Run: turn(far)},
		{ID: "reader.close", Key: keymap.Bind("close", "esc", "q", "d", "c", "ctrl+c"),
			In: r, Run: closeReader},
		{ID: "reader.problem", Key: keymap.Bind("close; in the city's details: go to a problem",
			"enter"), In: r, Run: showProblemRow},
	}, append(finderActions(), promptActions()...)...)
}

func finderActions() []state.Action {
	const far = widget.Unlimited
	f := []keymap.Zone{keymap.InFinder}
	find := func(n int) func(*state.Room) []feed.Effect {
		return func(m *state.Room) []feed.Effect { m.Dialogs.Finder().Step(n); return nil }
	}
	leaf := func(n int) func(*state.Room) []feed.Effect {
		return func(m *state.Room) []feed.Effect { m.Dialogs.Finder().Page(n); return nil }
	}
	return []state.Action{
		{ID: "finder.down", Key: keymap.Bind("down; in the palette's history: later commands",
			"down", "ctrl+n"), In: f,
			Run: func(m *state.Room) []feed.Effect { m.Dialogs.Finder().Down(); return nil }},
		{ID: "finder.up", Key: keymap.Bind("up; from the palette's first row: earlier commands",
			"up", "ctrl+p", "shift+tab"), In: f,
			Run: func(m *state.Room) []feed.Effect { m.Dialogs.Finder().Up(); return nil }},
		{ID: "finder.complete",
			Key: keymap.Bind("palette: complete the action or name; elsewhere: down", "tab"),
			In:  f, Run: func(m *state.Room) []feed.Effect {
				m.Dialogs.Finder().Complete()
				return nil
			}},
		{ID: "finder.page.down", Key: keymap.Bind("a page down", "pgdown"), In: f, Run: leaf(1)},
		{ID: "finder.page.up", Key: keymap.Bind("a page up", "pgup"), In: f, Run: leaf(-1)},
		{ID: "finder.first", Key: keymap.Bind("to the first row", "home"), In: f, Run: find(-far)},
		{ID: "finder.last", Key: keymap.Bind("to the last row", "end"), In: f, Run: find(far)},
		{ID: "finder.run", Key: keymap.Bind("run the selected action", "enter"), In: f,
			Run: RunFound},
		{ID: "finder.close", Key: keymap.Bind("close", "esc", "ctrl+c"), In: f,
			Run: func(m *state.Room) []feed.Effect {
				m.Dialogs.CloseIn(keymap.InFinder)
				return nil
			}},
	}
}

func promptActions() []state.Action {
	p := []keymap.Zone{keymap.InPrompt}
	return []state.Action{
		{ID: "prompt.done", Key: keymap.Bind("done", "enter"), In: p, Run: submitPrompt},
		{ID: "prompt.next", Key: keymap.Bind("next step: choose the pool for the bead, or write "+
			"the text of the mail", "tab"), In: p,
			Run: func(m *state.Room) []feed.Effect {
				p := m.Dialogs.Prompt()
				return m.RunTasks(p.Step(func() { m.Dialogs.Close(p) }))
			}},
		{ID: "prompt.cancel", Key: keymap.Bind("cancel", "esc", "ctrl+c"), In: p,
			Run: leavePrompt},
	}
}

func takeAnswer(m *state.Room) []feed.Effect {
	return m.RunTasks(m.Dialogs.Choice().Accept(closeChoice(m)))
}

func closeChoice(m *state.Room) func() {
	return func() { m.Dialogs.CloseIn(keymap.InChoice) }
}

func submitPrompt(m *state.Room) []feed.Effect {
	return m.RunTasks(m.Dialogs.Prompt().Submit(func() { m.Dialogs.CloseIn(keymap.InPrompt) }))
}

func leavePrompt(m *state.Room) []feed.Effect {
	m.Dialogs.Prompt().Leave(func() { m.Dialogs.CloseIn(keymap.InPrompt) })
	return nil
}
