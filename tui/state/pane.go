package state

import (
	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// PaneSearch identifies the prompt of a search in the pane.
type PaneSearch struct{}

// EndSearch closes an open search prompt. It is called when the pane switches to a different agent or run.
func EndSearch(m *Room) {
	if p := m.Dialogs.Prompt(); p != nil && p.About == any(PaneSearch{}) {
		m.Dialogs.Close(p)
		m.RejectedTextAt = m.Now
		m.Peek.Follow()
		ShowFailure(m, "search canceled: the pane now shows a different agent or run")
	}
}

// SessionRule returns the label of the line that separates a new session's output from older output.
func SessionRule(m *Room) string {
	r := Selected(m)
	if r == nil || r.Session == nil {
		return "new session"
	}
	text := "new session " + widget.Clock(r.Session.Started, m.Now)
	if r.Exit != nil && !r.Exit.Earlier {
		return text + "; previous one: " + panel.LastExit(r.Exit)
	}
	if r.Reason != "" { // gcity stopped the previous session
		text += "; " + widget.Plain(r.Reason)
	}
	return text
}

// Watching returns the agent or run that the pane shows.
func Watching(m *Room) feed.Watch {
	if w, ok := watchingRun(m); ok {
		return w
	}
	row := Selected(m)
	if row == nil || !m.peekVisible() {
		return feed.Watch{}
	}
	w := feed.Watch{Agent: row.Name, Running: row.Running, Focused: m.Focus == panel.IDPeek,
		AllOutput: m.Peek.Logs}
	switch {
	case row.Session != nil:
		w.Session = row.Session.ID
	case m.Watched.Agent == row.Name:
		w.Session = m.Watched.Session // the pane keeps the last output
	}
	return w
}

// ShowsRun reports whether the pane shows the automation under the cursor instead of the selected agent.
func ShowsRun(m *Room) bool { return m.ShowRuns && m.Automations.Current() != nil }

// UpdatePane decides what the pane shows. A pane that has the focus keeps its agent.
func UpdatePane(m *Room) {
	name := m.paneAgent
	if m.Focus != panel.IDPeek {
		m.ShowRuns = m.Focus == panel.IDAutomations
		name = ""
	}
	if r := Selected(m); r != nil {
		name = r.Name
	}
	if name != m.paneAgent || name == "" && m.paneRow != m.Subject() {
		m.Pane = widget.Cache{}
	}
	if m.paneRow = m.Subject(); name != m.paneAgent {
		m.paneAgent = name
		m.Peek.Follow()
		EndSearch(m)
	}
}

func watchingRun(m *Room) (w feed.Watch, ok bool) {
	r := m.Automations.Current()
	switch {
	case m.Dialogs.History() != nil:
		r = m.Automations.Find(m.Dialogs.History().Name)
	case !ShowsRun(m):
		return feed.Watch{}, false
	case !m.peekVisible():
		r = nil
	}
	if r == nil || r.Last == nil {
		return feed.Watch{}, true
	}
	return feed.Watch{Run: r.Last.ID, Running: r.Last.Ended == nil, Focused: true}, true
}

// RunLines returns the received output of a run as lines, or else the output in its record.
func RunLines(m *Room, run *city.Run) []string {
	if m.Peek.News.Run == run.ID && len(m.Peek.News.Text) > 0 {
		return m.Peek.News.Text
	}
	return widget.PlainLines(run.Output)
}

// AgentVerbsUnavailable reports whether agent verbs are unavailable because the focused panel or the pane shows
// something else.
func AgentVerbsUnavailable(m *Room) bool { return ShowsRun(m) || m.Zone().ExcludesAgentVerbs() }
