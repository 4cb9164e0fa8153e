package actions

import (
	"slices"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func dialogActions() []state.Action {
	const far = widget.Unlimited
	pick := func(n int) state.Task {
		return noEffects(func(m *state.Room) { m.Dialogs.Choice().Step(n) })
	}
	cycle := func(n int) state.Task {
		return noEffects(func(m *state.Room) { m.Dialogs.Choice().Cycle(n) })
	}
	turn := func(n int) state.Task {
		return noEffects(func(m *state.Room) {
			m.Dialogs.Reader().Scroll(n, m.Canvas())
		})
	}
	step := func(n int) state.Task {
		return noEffects(func(m *state.Room) { m.Dialogs.Reader().Step(n, m.Canvas()) })
	}
	return slices.Concat(in([]state.Action{
		{ID: "choice.next", Key: keymap.Bind("next answer; after the last one, the first", "tab"),
			Run: cycle(1)},
		{ID: "choice.previous", Run: cycle(-1),
			Key: keymap.Bind("previous answer; before the first one, the last", "shift+tab")},
		{ID: "choice.down", Key: keymap.Bind("answer below", "down", "right"),
			Run: pick(1)},
		{ID: "choice.up", Key: keymap.Bind("answer above", "up", "left"), Run: pick(-1)},
		{ID: "choice.take", Key: keymap.Bind("choose the answer", "enter"), Run: takeAnswer},
		{ID: "choice.cancel", Key: keymap.Bind("cancel", "esc", "ctrl+c"),
			Run: func(m *state.Room) []feed.Effect {
				return m.RunTasks(m.Dialogs.Choice().Cancel(closeChoice(m)))
			}},
	}, keymap.InChoice), in([]state.Action{
		{ID: "reader.down", Key: keymap.Bind("scroll down; in the city's details: next problem",
			"j", "down"), Run: step(1)},
		{ID: "reader.up", Key: keymap.Bind("scroll up; in the city's details: previous problem",
			"k", "up"), Run: step(-1)},
		{ID: "reader.page.down", Key: keymap.Bind("a page down", "pgdown", "ctrl+d", "space"),
			Run: turn(10)},
		{ID: "reader.page.up", Key: keymap.Bind("a page up", "pgup", "ctrl+u"),
			Run: turn(-10)},
		{ID: "reader.first", Key: keymap.Bind("to the beginning", "g", "home"),
			Run: turn(-far)},
		{ID: "reader.last", Key: keymap.Bind("to the end", "G", "end"), Run: turn(far)},
		{ID: "reader.close", Key: keymap.Bind("close", "esc", "q", "d", "c", "ctrl+c"),
			Run: closeReader},
		{ID: "reader.problem", Key: keymap.Bind("close; in the city's details: go to the problem",
			"enter"), Run: showProblemRow},
	}, keymap.InReader), finderActions(), promptActions())
}

func finderActions() []state.Action {
	const far = widget.Unlimited
	find := func(n int) state.Task {
		return noEffects(func(m *state.Room) { m.Dialogs.Finder().Step(n) })
	}
	leaf := func(n int) state.Task {
		return noEffects(func(m *state.Room) { m.Dialogs.Finder().Page(n) })
	}
	return in([]state.Action{
		{ID: "finder.down", Key: keymap.Bind("down; in the palette's history: later commands",
			"down", "ctrl+n"),
			Run: noEffects(func(m *state.Room) { m.Dialogs.Finder().Down() })},
		{ID: "finder.up", Key: keymap.Bind("up; from the palette's first row: earlier commands",
			"up", "ctrl+p", "shift+tab"),
			Run: noEffects(func(m *state.Room) { m.Dialogs.Finder().Up() })},
		{ID: "finder.complete",
			Key: keymap.Bind("palette: complete the action or name; elsewhere: down", "tab"),
			Run: noEffects(func(m *state.Room) {
				m.Dialogs.Finder().Complete()
			})},
		{ID: "finder.page.down", Key: keymap.Bind("a page down", "pgdown"), Run: leaf(1)},
		{ID: "finder.page.up", Key: keymap.Bind("a page up", "pgup"), Run: leaf(-1)},
		{ID: "finder.first", Key: keymap.Bind("to the first row", "home"), Run: find(-far)},
		{ID: "finder.last", Key: keymap.Bind("to the last row", "end"), Run: find(far)},
		{ID: "finder.run", Key: keymap.Bind("run the selected action", "enter"),
			Run: RunFound},
		{ID: "finder.close", Key: keymap.Bind("close", "esc", "ctrl+c"),
			Run: noEffects(func(m *state.Room) {
				m.Dialogs.CloseIn(keymap.InFinder)
			})},
	}, keymap.InFinder)
}

func promptActions() []state.Action {
	return in([]state.Action{
		{ID: "prompt.done", Key: keymap.Bind("done", "enter"), Run: submitPrompt},
		{ID: "prompt.next", Key: keymap.Bind("next step: choose the pool for the bead, or write "+
			"the text of the mail", "tab"),
			Run: func(m *state.Room) []feed.Effect {
				p := m.Dialogs.Prompt()
				return m.RunTasks(p.Step(func() { m.Dialogs.Close(p) }))
			}},
		{ID: "prompt.cancel", Key: keymap.Bind("cancel", "esc", "ctrl+c"),
			Run: noEffects(leavePrompt)},
	}, keymap.InPrompt)
}

func takeAnswer(m *state.Room) []feed.Effect {
	c := m.Dialogs.Choice()
	a := c.Answers[c.Cursor]
	todo := m.RunTasks(c.Accept(closeChoice(m)))
	// the user might press enter to confirm, but "no" is preselected
	if a.Safe && a.Do == nil && !c.IsNotice() && !m.Status.Pending && !m.Status.Failed {
		state.Show(m, "nothing was changed", false)
	}
	return todo
}

func closeChoice(m *state.Room) func() {
	return func() { m.Dialogs.CloseIn(keymap.InChoice) }
}

func submitPrompt(m *state.Room) []feed.Effect {
	return m.RunTasks(m.Dialogs.Prompt().Submit(func() { m.Dialogs.CloseIn(keymap.InPrompt) }))
}

func leavePrompt(m *state.Room) {
	m.Dialogs.Prompt().Leave(func() { m.Dialogs.CloseIn(keymap.InPrompt) })
}
