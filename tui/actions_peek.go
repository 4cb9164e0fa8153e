package tui

import (
	"fmt"
	"strings"
	"unicode"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

// peekActions returns the actions for the pane. None of them affects the agent.
func peekActions() []action {
	pane := []keymap.Zone{keymap.InPeek}
	sideways := func(n int) func(*model) []feed.Effect {
		return func(m *model) []feed.Effect {
			w, _ := paneRoom(m)
			m.peek.Sideways(n*max(1, w/4), w)
			return nil
		}
	}
	return []action{
		{ID: "peek.logs",
			Key: keymap.Bind(
				"show all stored output (logs) of the agent or run, or go back", "l"),
			In:  []keymap.Zone{keymap.Everywhere},
			Why: needMeant, Run: showLogs},
		{ID: "peek.search",
			Key:   keymap.Bind("search: a regular expression; lower case matches both cases", "/"),
			Short: "search", In: pane,
			Why: needOutput, Run: askSearch},
		{ID: "peek.search.next", Key: keymap.Bind("next match", "n"), In: pane, Why: needSearch,
			Run: func(m *model) []feed.Effect { nextHit(m, 1); return nil }},
		{ID: "peek.search.previous", Key: keymap.Bind("previous match", "N"), In: pane,
			Why: needSearch,
			Run: func(m *model) []feed.Effect { nextHit(m, -1); return nil }},
		{ID: "peek.follow", Key: keymap.Bind("follow again, or freeze the view", "F"),
			Short: "follow", In: pane, Why: needOutput,
			Run: holdOrFollow},
		{ID: "peek.mark",
			Key: keymap.Bind("mark the current end of the output with a rule and the time, or "+
				"remove the mark",
				"m"), Short: "mark", In: pane,
			Why: needOutput, Run: markOutput},
		{ID: "peek.wrap", Key: keymap.Bind("wrap lines wider than the pane, or cut them", "w"),
			Short: "wrap", In: pane, Why: needLines,
			Run: func(m *model) []feed.Effect {
				m.peek.Wrap, m.peek.X = !m.peek.Wrap, 0
				return nil
			}},
		{ID: "peek.fit",
			Key: keymap.Bind(
				"fit: wrap lines and drop empty rows and columns of a full-screen program", "z"),
			Short: "fit",
			In:    pane, Run: func(m *model) []feed.Effect {
				m.peek.Fit, m.peek.X = !m.peek.Fit, 0
				return nil
			}},
		{ID: "peek.left", Key: keymap.Bind("scroll to the left", "left"), In: pane,
			Run: sideways(-1)},
		{ID: "peek.right", Key: keymap.Bind("scroll to the right", "right"), In: pane,
			Run: sideways(1)},
		{ID: "peek.page", Key: keymap.Bind("open the output in $PAGER", "|"), In: pane,
			Why: needOutput, Run: pageOutput},
		{ID: "peek.save", Key: keymap.Bind("save the output to a new file", "ctrl+s"),
			In: pane, Why: needOutput,
			Run: askSave},
	}
}

// meantAgent returns the agent of an output view: in Events the event's agent, elsewhere the agent of the pane.
func meantAgent(m *model) *panel.AgentRow {
	if r := singleAgent(m); r != nil {
		return r
	}
	return selected(m)
}

func needMeant(m *model) string {
	switch {
	case showsRun(m) && m.focus == panel.IDPeek:
		return "this is all stored output of the run"
	case showsRun(m):
		return ""
	case meantAgent(m) == nil:
		return "no agent is selected"
	}
	return ""
}

func needOutput(m *model) string {
	r := selected(m)
	n := &m.peek.News
	if showsRun(m) {
		a := m.Automations.Current()
		if a.Last == nil || n.Run != a.Last.ID || len(n.Text) == 0 {
			return a.Shown + " has printed nothing"
		}
		return ""
	}
	switch {
	case r == nil:
		return "no agent is selected"
	case n.Agent != r.Name || n.Screen == nil && len(n.Text) == 0:
		return r.Shown + " has left no output"
	}
	return ""
}

func needLines(m *model) string {
	if m.peek.Full() {
		return "a full-screen program has no lines to wrap; press " + m.keys.KeyOf("peek.fit") +
			" to fit its screen into the pane"
	}
	return ""
}

func needSearch(m *model) string {
	if m.peek.Seek.Re == nil {
		return "no search is active; " + m.keys.KeyOf("peek.search") + " searches"
	}
	return needOutput(m)
}

// showLogs shows all stored output of the agent on the whole screen, or switches back to the terminal.
func showLogs(m *model) []feed.Effect {
	if m.peek.Logs {
		m.peek.Logs = false
		m.peek.Follow()
		return nil
	}
	if showsRun(m) {
		m.hidden = false
		return zoomIn(m)
	}
	if r := meantAgent(m); r.Name != m.Agents.Chosen {
		choose(m, r.Name)
	}
	if m.focus != panel.IDPeek || !m.zoomed {
		m.before = m.focus
	}
	m.focus, m.zoomed, m.hidden, m.onRuns = panel.IDPeek, true, false, false
	m.peek.Logs = true
	m.peek.Follow()
	return nil
}

// askSearch searches while the user types. It selects the newest match, or the last match above the end of a frozen
// view.
func askSearch(m *model) []feed.Effect {
	p := &m.peek
	began := *p
	all := p.All()
	w, h := paneRoom(m)
	p.Seek = terminal.Lookup{}
	apply := func(text string) {
		p.Past, p.Top, p.X, p.Y, p.Pinned, p.FedAt = began.Past, began.Top, began.X, began.Y,
			began.Pinned, began.FedAt
		p.Seek = terminal.NewLookup(text)
		if p.Seek.Find(all.Lines); len(p.Seek.Hits) == 0 {
			return
		}
		line := len(all.Lines)
		if p.Past != nil {
			line = p.Bottom(w, h)
		} else {
			fed := p.Fed()
			p.Past, p.FedAt = &all, fed
			p.Top = p.LastTop(all.Lines, w, h)
		}
		p.Seek.Nearest(line)
		p.Reveal(w, h)
	}
	m.dialogs.Open(&prompt{
		Label: "search", Hint: fmt.Sprintf("%s keeps it, then %s and %s jump to "+
			"matches  %s cancels",
			m.keys.KeyOf("prompt.done"), m.keys.KeyOf("peek.search.next"),
			m.keys.KeyOf("peek.search.previous"), m.keys.KeyOf("prompt.cancel")),
		Edit: widget.NewEntry(""), Change: apply, About: paneSearch{},

		Cancel: func() {
			apply("")
			p.Seek = terminal.Lookup{}
		},
	})
	return nil
}

func nextHit(m *model, n int) {
	p := &m.peek
	w, h := paneRoom(m)
	if p.Past == nil {
		s := p.All()
		p.Hold(s)
		p.Top = p.LastTop(s.Lines, w, h)
	} else {
		p.Seek.Next(n)
	}
	if len(p.Seek.Hits) == 0 {
		p.Follow()
		complain(m, "not found: "+p.Seek.Text)
		return
	}
	p.Reveal(w, h)
}

func holdOrFollow(m *model) []feed.Effect {
	p := &m.peek
	if p.Frozen() || p.Pinned {
		p.Follow()
		return nil
	}
	w, h := paneRoom(m)
	s := p.All()
	p.Hold(s)
	p.Top = p.LastTop(s.Lines, w, h)
	return nil
}

func markOutput(m *model) []feed.Effect {
	at := m.now.Format("15:04:05")
	if why := m.peek.Bookmark("marked " + at); why != "" {
		complain(m, "cannot mark: "+why)
		return nil
	}
	if m.peek.Frozen() {
		say(m, "marked below the frozen view; "+m.keys.KeyOf("peek.follow")+" follows")
		m.status.while = func(m *model) bool { return m.peek.Frozen() }
	}
	return nil
}

func pageOutput(m *model) []feed.Effect {
	return []feed.Effect{feed.ShowText{Text: m.peek.All().Output(true)}}
}

// askSave asks for the name of the file to save the output in. The suggested file is in the working directory.
func askSave(m *model) []feed.Effect {
	text, of := m.peek.All().Output(false), m.Agents.Chosen
	if showsRun(m) {
		of = m.Automations.Current().Name
	}
	lines := strings.Count(text, "\n")
	m.dialogs.Open(&prompt{
		Label: "save " + widget.Count(lines, "line") + " to",
		Hint:  m.keys.Hint("  ", "prompt.done", "saves", "prompt.cancel", "cancels"),
		Edit:  widget.NewEntry(fileName(of) + "-" + m.now.Format("20060102-150405") + ".txt"),
		Refuse: func(path string) string {
			if strings.TrimSpace(path) == "" {
				return "enter a file name"
			}
			return ""
		},
		Done: func(path string) task {
			return func(m *model) []feed.Effect {
				return []feed.Effect{feed.Save{ID: begin(m, "saving "+path), Path: path, Text: text,
					Lines: lines}}
			}
		},
	})
	return nil
}

// fileName makes a file name from the name of an agent.
func fileName(agent string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, strings.TrimLeft(agent, "."))
}
