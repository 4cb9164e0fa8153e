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
	leaf := func(n int) func(*model) []effect {
		return func(m *model) []effect { m.finder.step(n * max(1, m.finder.page)); return nil }
	}
	return []action{
		{id: "choice.next", key: bind("next answer", "tab", "down", "right"), in: c, run: pick(1)},
		{id: "choice.previous", key: bind("answer before", "shift+tab", "up", "left"), in: c, run: pick(-1)},
		{id: "choice.take", key: bind("take the answer", "enter"), in: c, run: (*model).takeAnswer},
		{id: "choice.cancel", key: bind("cancel", "esc", "ctrl+c"), in: c,
			run: func(m *model) []effect { m.choice = nil; return nil }},

		{id: "reader.down", key: bind("down", "j", "down"), in: r, run: turn(1)},
		{id: "reader.up", key: bind("up", "k", "up"), in: r, run: turn(-1)},
		{id: "reader.page.down", key: bind("a page down", "pgdown", "ctrl+d", "space"), in: r, run: turn(10)},
		{id: "reader.page.up", key: bind("a page up", "pgup", "ctrl+u"), in: r, run: turn(-10)},
		{id: "reader.first", key: bind("to the beginning", "g", "home"), in: r, run: turn(-far)},
		{id: "reader.last", key: bind("to the end", "G", "end"), in: r, run: turn(far)},
		{id: "reader.close", key: bind("close", "esc", "q", "d", "c", "enter", "ctrl+c"), in: r,
			run: func(m *model) []effect { m.reader = nil; return nil }},

		{id: "finder.down", key: bind("down; in the palette's history towards the newest", "down", "ctrl+n"), in: f, run: (*model).finderDown},
		{id: "finder.up", key: bind("up; from the palette's first row into its history", "up", "ctrl+p", "shift+tab"), in: f, run: (*model).finderUp},
		{id: "finder.complete", key: bind("palette: complete the verb or the name; elsewhere down", "tab"), in: f, run: (*model).complete},
		{id: "finder.page.down", key: bind("a page down", "pgdown"), in: f, run: leaf(1)},
		{id: "finder.page.up", key: bind("a page up", "pgup"), in: f, run: leaf(-1)},
		{id: "finder.first", key: bind("to the first", "home"), in: f, run: find(-far)},
		{id: "finder.last", key: bind("to the last", "end"), in: f, run: find(far)},
		{id: "finder.run", key: bind("run it", "enter"), in: f, run: (*model).runFound},
		{id: "finder.close", key: bind("close", "esc", "ctrl+c"), in: f,
			run: func(m *model) []effect { m.finder = nil; return nil }},

		{id: "prompt.done", key: bind("done", "enter"), in: p, run: (*model).donePrompt},
		{id: "prompt.cancel", key: bind("cancel", "esc", "ctrl+c"), in: p, run: (*model).cancelPrompt},
	}
}
