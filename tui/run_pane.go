package tui

import (
	"strings"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

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

// drawRun draws the output of an automation's newest run.
func drawRun(m *model, w, h int, focus bool, tabs []widget.Tab) []string {
	r := m.Automations.Current()
	end := ""
	if r.Last != nil {
		end = "run " + widget.Plain(r.Last.ID)
	}
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs, end))
	var text []string
	switch room := max(1, h-1); {
	case r.Last == nil:
	case m.peek.News.Run == r.Last.ID && len(m.peek.News.Text) > 0:
		cropped := m.peek.Crops.Cropper(w - 1)
		for _, l := range m.peek.Window(w-1, room) {
			lines = append(lines, " "+paneRow(m, l, w-1, cropped))
		}
		return widget.FillRows(lines, w, h)
	default:
		text = terminal.Tail(printed(m, r.Last), room)
	}
	if len(text) == 0 {
		return widget.FillRows(append(lines, m.look.Notes(w, nothingPrinted(m, r))...), w, h)
	}
	for _, s := range text {
		lines = append(lines, " "+widget.Crop(s, w-1))
	}
	return widget.FillRows(lines, w, h)
}

// nothingPrinted returns a text that says why the pane of an automation is empty.
func nothingPrinted(m *model, r *panel.AutomationRow) string {
	heard := r.Last != nil && m.peek.News.Run == r.Last.ID
	switch {
	case r.State == panel.AutomationBroken:
		return r.Shown + " is broken: " + r.Reason
	case r.Last == nil:
		return r.Shown + " never ran. The output of its newest run appears here."
	case heard && m.peek.News.Problem != "":
		return "Nothing to show: " + widget.Plain(m.peek.News.Problem)
	case r.Last.Ended == nil:
		return "Nothing printed yet."
	case r.Last.Made != "":
		return "The run created " + widget.Plain(r.Last.Made) + " and printed nothing."
	}
	return "The run printed nothing."
}

// runTab returns the pane's title: the automation and the state of its run.
func runTab(m *model) widget.Tab {
	r := m.Automations.Current()
	dot := m.look.Glyphs.Dot
	t := widget.Tab{Key: "0", Name: r.Shown, Extra: dot + " " + r.Ago(m.now)}
	switch {
	case r.Last == nil:
		t.Extra = dot + " never ran"
	case r.Last.Ended == nil && !r.Last.Ending():
		t.Extra = dot + " running " + widget.Age(m.now.Sub(r.Last.Opened))
	}
	if r.Last != nil && m.peek.News.Run == r.Last.ID {
		extra := soughtInPane(m, &t, []string{t.Extra})
		if m.peek.Frozen() {
			extra = append(extra, behindPane(m))
		}
		t.Extra = strings.Join(viewOfPane(m, extra), "  ")
	}
	return t
}

// apart reports whether verbs for agents are refused, because the focused panel or the pane shows something else.
func apart(m *model) bool { return showsRun(m) || m.zone().Apart() }

// amongOthers returns why verbs for agents are refused while the focused panel or the pane shows something else.
func amongOthers(m *model) string {
	if m.focus != panel.IDPeek {
		return "this panel shows " + m.worked().About().Noun + "s; press " +
			m.keys.KeyOf("focus.agents") + " for the agents"
	}
	return "the pane shows an automation; press " + m.keys.KeyOf("focus.agents") +
		" for the agents, " + m.keys.KeyOf("focus.automations") + " for the automations"
}
