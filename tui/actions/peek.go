package actions

import (
	"fmt"
	"strings"
	"unicode"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

func peekActions() []state.Action {
	sideways := func(n int) state.Task {
		return noEffects(func(m *state.Room) {
			w, _ := state.PaneRoom(m)
			m.Peek.ScrollColumns(n*max(1, w/4), w)
		})
	}
	return append([]state.Action{
		{ID: "peek.logs",
			Key: keymap.Bind(
				"show all stored output (logs) of the agent or run, or go back", "l"),
			Why: needOutputAgent, Run: showLogs},
	}, in([]state.Action{
		{ID: "peek.search",
			Key:   keymap.Bind("search: a regular expression; lower case matches both cases", "/"),
			Short: "search",
			Why:   needOutput, Run: askSearch},
		{ID: "peek.search.next", Key: keymap.Bind("next match", "n"), Short: "next match",
			Why: needSearch,
			Run: noEffects(func(m *state.Room) { nextHit(m, 1) })},
		{ID: "peek.search.previous", Key: keymap.Bind("previous match", "N"),
			Why: needSearch,
			Run: noEffects(func(m *state.Room) { nextHit(m, -1) })},
		{ID: "peek.follow", Key: keymap.Bind("follow again, or freeze the view", "F"),
			Short: "follow", Why: needOutput,
			Run: noEffects(freezeOrFollow)},
		{ID: "peek.mark",
			Key: keymap.Bind("mark the end of the output with the time, or remove the mark",
				"m"), Short: "mark",
			Why: needMarkable, Run: markOutput},
		{ID: "peek.wrap", Key: keymap.Bind("wrap lines wider than the pane, or truncate them", "w"),
			Short: "wrap", Why: needLines,
			Run: noEffects(func(m *state.Room) {
				m.Peek.Wrap, m.Peek.X = !m.Peek.Wrap, 0
			})},
		{ID: "peek.fit",
			Key: keymap.Bind(
				"fit: wrap lines and drop empty rows and columns of a full-screen program", "z"),
			Short: "fit",
			Run: noEffects(func(m *state.Room) {
				m.Peek.Fit, m.Peek.X = !m.Peek.Fit, 0
			})},
		{ID: "peek.left", Key: keymap.Bind("scroll to the left", "left"),
			Run: sideways(-1)},
		{ID: "peek.right", Key: keymap.Bind("scroll to the right", "right"),
			Run: sideways(1)},
		{ID: "peek.page", Key: keymap.Bind("open the output in $PAGER", "|"),
			Why: needOutput, Run: pageOutput},
		{ID: "peek.save", Key: keymap.Bind("save the output to a new file", "ctrl+s"),
			Why: needOutput,
			Run: askSave},
	}, keymap.InPeek)...)
}

func outputAgent(m *state.Room) *panel.AgentRow {
	if r := state.SingleAgent(m); r != nil {
		return r
	}
	return state.Selected(m)
}

func needOutputAgent(m *state.Room) string {
	switch {
	case state.ShowsRun(m) && m.Focus == panel.IDPeek:
		return "the pane already shows all stored output of the run"
	case state.ShowsRun(m):
		return ""
	case outputAgent(m) == nil:
		return noAgent(m)
	}
	return ""
}

func needOutput(m *state.Room) string {
	r := state.Selected(m)
	n := &m.Peek.News
	if state.ShowsRun(m) {
		a := m.Automations.Current()
		if a.Last == nil || n.Run != a.Last.ID || len(n.Text) == 0 {
			return a.Shown + " has printed nothing"
		}
		return ""
	}
	switch {
	case r == nil:
		return "no agent is selected"
	case n.Agent != r.Name && state.Watching(m).Agent == r.Name:
		return "the output of " + r.Shown + " is still loading"
	case n.Agent != r.Name:
		return "the output of " + r.Shown + " is not loaded; press " +
			m.Keys.KeyText("focus.peek") + " to show it"
	case n.Screen == nil && len(n.Text) == 0:
		return r.Shown + " shows no output: " + state.Unstored(r)
	}
	return ""
}

func needLines(m *state.Room) string {
	if m.Peek.Full() {
		return "a full-screen program has no lines to wrap; press " + m.Keys.KeyText("peek.fit") +
			" to fit its screen into the pane"
	}
	return ""
}

func needMarkable(m *state.Room) string {
	if state.ShowsRun(m) {
		return "the output of an automation cannot be marked"
	}
	return needOutput(m)
}

func needSearch(m *state.Room) string {
	if m.Peek.Search.Re == nil {
		return "no search is active; press " + m.Keys.KeyText("peek.search") + " to search"
	}
	return needOutput(m)
}

func showLogs(m *state.Room) []feed.Effect {
	if m.Peek.Logs {
		m.Peek.Logs = false
		m.Peek.Follow()
		if m.LogsFromList {
			m.Focus, m.Zoomed = m.PreviousFocus, false
		}
		return nil
	}
	if state.ShowsRun(m) {
		m.Hidden = false
		return zoomIn(m)
	}
	if m.Focus != panel.IDPeek || !m.Zoomed {
		m.PreviousFocus = m.Focus
	}
	shown := outputAgent(m).Name // depends on the focus, which changes below
	m.LogsFromList = m.Focus != panel.IDPeek
	m.Focus, m.Zoomed, m.Hidden, m.ShowRuns = panel.IDPeek, true, false, false
	m.Peek.Logs = true
	m.Peek.Follow()
	state.ShowAgent(m, shown)
	return nil
}

func askSearch(m *state.Room) []feed.Effect {
	p := &m.Peek
	began := *p
	all := p.All()
	w, h := state.PaneRoom(m)
	p.Search = terminal.Search{}
	apply := func(text string) {
		p.FrozenPicture, p.Top, p.X, p.Y, p.YChosen, p.LinesWhenFrozen = began.FrozenPicture,
			began.Top, began.X, began.Y,
			began.YChosen, began.LinesWhenFrozen
		p.Search = terminal.NewSearch(text)
		if p.Search.Find(all.Lines); len(p.Search.Hits) == 0 {
			return
		}
		line := len(all.Lines)
		if p.FrozenPicture != nil {
			line = p.Bottom(w, h)
		} else {
			fed := p.LinesReceived()
			p.FrozenPicture, p.LinesWhenFrozen = &all, fed
			p.Top = p.LastTop(all.Lines, w, h)
		}
		p.Search.Nearest(line)
		p.Reveal(w, h)
	}
	m.Dialogs.Open(&state.Prompt{
		Label: "search", Hint: fmt.Sprintf("%s keeps it, then %s and %s jump to "+
			"matches  %s cancels",
			m.Keys.KeyText("prompt.done"), m.Keys.KeyText("peek.search.next"),
			m.Keys.KeyText("peek.search.previous"), m.Keys.KeyText("prompt.cancel")),
		Edit: widget.NewEntry(""), Change: apply, About: state.PaneSearch{},
		Done: func(string) state.Task {
			return noEffects(func(m *state.Room) {
				if p := &m.Peek; p.Search.Re != nil && len(p.Search.Hits) == 0 {
					state.ReportNotFound(m)
				}
			})
		},
		Cancel: func() {
			apply("")
			p.Search = terminal.Search{}
		},
	})
	return nil
}

func nextHit(m *state.Room, n int) {
	p := &m.Peek
	w, h := state.PaneRoom(m)
	if p.FrozenPicture == nil {
		s := p.All()
		p.Freeze(s)
		p.Top = p.LastTop(s.Lines, w, h)
	} else {
		p.Search.Next(n)
	}
	if len(p.Search.Hits) == 0 {
		p.Follow()
		state.ReportNotFound(m)
		return
	}
	p.Reveal(w, h)
}

func freezeOrFollow(m *state.Room) {
	p := &m.Peek
	if p.Frozen() || p.YChosen {
		p.Follow()
		return
	}
	w, h := state.PaneRoom(m)
	s := p.All()
	p.Freeze(s)
	p.Top = p.LastTop(s.Lines, w, h)
}

func markOutput(m *state.Room) []feed.Effect {
	at := m.Now.Format("15:04:05")
	if why := m.Peek.Bookmark("marked " + at); why != "" {
		state.ShowFailure(m, "cannot mark: "+why)
		return nil
	}
	if m.Peek.Frozen() {
		state.ShowSuccess(m,
			"the mark is below the frozen view; "+m.Keys.KeyText("peek.follow")+" follows")
		m.Status.While = func(m *state.Room) bool { return m.Peek.Frozen() }
	}
	return nil
}

func pageOutput(m *state.Room) []feed.Effect {
	return []feed.Effect{feed.ShowText{Text: m.Peek.All().Output(true)}}
}

func askSave(m *state.Room) []feed.Effect {
	text, of := m.Peek.All().Output(false), ""
	if r := state.Selected(m); r != nil {
		of = r.Name
	}
	if state.ShowsRun(m) {
		of = m.Automations.Current().Name
	}
	lines := strings.Count(text, "\n")
	m.Dialogs.Open(&state.Prompt{
		Label: "save " + widget.Count(lines, "line") + " to",
		Hint:  promptHint(m, "saves"),
		Edit:  widget.NewEntry(fileName(of) + "-" + m.Now.Format("20060102-150405") + ".txt"),
		Validate: func(path string) string {
			if strings.TrimSpace(path) == "" {
				return "enter a file name"
			}
			return ""
		},
		Done: func(path string) state.Task {
			return func(m *state.Room) []feed.Effect {
				return []feed.Effect{feed.Save{ID: state.BeginAction(m, "saving "+path), Path: path,
					Text:  text,
					Lines: lines}}
			}
		},
	})
	return nil
}

func fileName(agent string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, strings.TrimLeft(agent, "."))
}
