package tui

// dialogActions are the keys of questions, texts, help and prompts. They are heard only there, and they alone.
func dialogActions() []action {
	c, r, f, p := []zone{inChoice}, []zone{inReader}, []zone{inFinder}, []zone{inPrompt}
	pick := func(n int) func(*model) []effect {
		return func(m *model) []effect { m.choice.step(n); return nil }
	}
	turn := func(n int) func(*model) []effect {
		return func(m *model) []effect { m.reader.scroll(n, m.sheetRows()); return nil }
	}
	find := func(n int) func(*model) []effect {
		return func(m *model) []effect { m.finder.step(n); return nil }
	}
	return []action{
		{id: "choice.next", title: "next answer", keys: []string{"tab", "down", "right"}, in: c, run: pick(1)},
		{id: "choice.previous", title: "answer before", keys: []string{"shift+tab", "up", "left"}, in: c, run: pick(-1)},
		{id: "choice.take", title: "take the answer", keys: []string{"enter"}, in: c, run: (*model).takeAnswer},
		{id: "choice.cancel", title: "cancel", keys: []string{"esc", "ctrl+c"}, in: c,
			run: func(m *model) []effect { m.choice = nil; return nil }},

		{id: "reader.down", title: "down", keys: []string{"j", "down"}, in: r, run: turn(1)},
		{id: "reader.up", title: "up", keys: []string{"k", "up"}, in: r, run: turn(-1)},
		{id: "reader.page.down", title: "a page down", keys: []string{"pgdown", "ctrl+d", "space"}, in: r, run: turn(10)},
		{id: "reader.page.up", title: "a page up", keys: []string{"pgup", "ctrl+u"}, in: r, run: turn(-10)},
		{id: "reader.first", title: "to the beginning", keys: []string{"g", "home"}, in: r, run: turn(-far)},
		{id: "reader.last", title: "to the end", keys: []string{"G", "end"}, in: r, run: turn(far)},
		{id: "reader.close", title: "close", keys: []string{"esc", "q", "d", "c", "enter", "ctrl+c"}, in: r,
			run: func(m *model) []effect { m.reader = nil; return nil }},

		{id: "finder.down", title: "down", keys: []string{"down", "ctrl+n", "tab"}, in: f, run: find(1)},
		{id: "finder.up", title: "up", keys: []string{"up", "ctrl+p", "shift+tab"}, in: f, run: find(-1)},
		{id: "finder.page.down", title: "a page down", keys: []string{"pgdown"}, in: f, run: find(10)},
		{id: "finder.page.up", title: "a page up", keys: []string{"pgup"}, in: f, run: find(-10)},
		{id: "finder.run", title: "run it", keys: []string{"enter"}, in: f, run: (*model).runFound},
		{id: "finder.close", title: "close", keys: []string{"esc", "ctrl+c"}, in: f,
			run: func(m *model) []effect { m.finder = nil; return nil }},

		{id: "prompt.done", title: "done", keys: []string{"enter"}, in: p, run: (*model).donePrompt},
		{id: "prompt.cancel", title: "cancel", keys: []string{"esc", "ctrl+c"}, in: p, run: (*model).cancelPrompt},
	}
}
