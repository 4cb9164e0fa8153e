package tui

import (
	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
	"strings"
)

// paneSearch identifies the prompt of a search in the pane.
type paneSearch struct{}

// endSearch closes the search prompt because the pane now shows another agent or run.
func endSearch(m *model) {
	if p := m.dialogs.prompt(); p != nil && p.About == any(paneSearch{}) {
		m.dialogs.Close(p)
		m.peek.Follow()
		complain(m, "search canceled: the pane now shows another agent or run")
	}
}

// bornRule returns the label of the line that separates a new session's output from older output.
func bornRule(m *model) string {
	r := selected(m)
	if r == nil || r.Session == nil {
		return "new session"
	}
	text := "new session " + widget.Clock(r.Session.Started, m.now)
	if r.Exit != nil {
		text += "; previous one: " + panel.LastExit(r.Exit)
	}
	return text
}

// watching returns the agent or run that the pane has to show.
func watching(m *model) feed.Watch {
	if w, ok := watchingRun(m); ok {
		return w
	}
	row := selected(m)
	if row == nil || !m.peekVisible() {
		return feed.Watch{}
	}
	w := feed.Watch{Agent: row.Name, Running: row.Running, Focused: m.focus == panel.IDPeek,
		Deep: m.peek.Logs}
	switch {
	case row.Session != nil:
		w.Session = row.Session.ID
	case m.watched.Agent == row.Name:
		w.Session = m.watched.Session // the pane keeps the last output
	}
	return w
}

// showsRun reports whether the pane shows the automation under the cursor instead of the selected agent. This starts
// when Automations gets the focus, and ends when another panel, except the pane, gets the focus.
func showsRun(m *model) bool { return m.onRuns && m.Automations.Current() != nil }

// turnPane updates what the pane shows after a message.
func turnPane(m *model) {
	if m.focus != panel.IDPeek {
		m.onRuns = m.focus == panel.IDAutomations
	}
}

// watchingRun returns the run with output that is visible in the pane or in the details of an automation, if any.
func watchingRun(m *model) (w feed.Watch, ok bool) {
	r := m.Automations.Current()
	switch {
	case m.dialogs.history() != nil:
		r = m.Automations.Find(m.dialogs.history().Name)
	case !showsRun(m):
		return feed.Watch{}, false
	case !m.peekVisible():
		r = nil
	}
	if r == nil || r.Last == nil {
		return feed.Watch{}, true
	}
	return feed.Watch{Run: r.Last.ID, Running: r.Last.Ended == nil, Focused: true}, true
}

// printed returns the known output of a run as lines: the received output, or otherwise the output in its record.
func printed(m *model, run *city.Run) []string {
	if m.peek.News.Run == run.ID && len(m.peek.News.Text) > 0 {
		return m.peek.News.Text
	}
	var lines []string
	for text := range strings.SplitSeq(strings.TrimRight(run.Output, "\n"), "\n") {
		if text = widget.Plain(text); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// apart reports whether verbs for agents are refused, because the focused panel or the pane shows something else.
func apart(m *model) bool { return showsRun(m) || m.zone().Apart() }
