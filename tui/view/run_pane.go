package view

import (
	"strings"

	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

func drawRun(m *state.Room, w, h int, focus bool, tabs []widget.Tab) []string {
	r := m.Automations.Current()
	end := ""
	if r.Last != nil {
		end = "run " + widget.Plain(r.Last.ID)
	}
	lines := append(make([]string, 0, h), m.Look.Title(w, focus, tabs, end))
	var text []string
	switch room := max(1, h-1); {
	case r.Last == nil:
	case m.Peek.News.Run == r.Last.ID && len(m.Peek.News.Text) > 0:
		return widget.FillRows(append(lines, paneRows(m, w, room)...), w, h)
	default:
		text = terminal.Tail(state.RunLines(m, r.Last), room)
	}
	if len(text) == 0 {
		return widget.FillRows(append(lines, m.Look.Notes(w, emptyRunText(m, r))...), w, h)
	}
	for _, s := range text {
		lines = append(lines, " "+widget.Crop(s, w-1))
	}
	return widget.FillRows(lines, w, h)
}

func emptyRunText(m *state.Room, r *panel.AutomationRow) string {
	heard := r.Last != nil && m.Peek.News.Run == r.Last.ID
	switch {
	case r.State == panel.AutomationBroken:
		return r.Shown + " is broken: " + r.Reason
	case r.LastUnknown:
		return "The latest run of " + r.Shown + " is unknown, because the records of earlier " +
			"runs have not been read."
	case r.Last == nil:
		return r.Shown + " has never run. The output of its latest run will appear here."
	case heard && m.Peek.News.Problem != "":
		return "Nothing to show: " + widget.Plain(m.Peek.News.Problem)
	case r.Last.Ended == nil:
		return "Nothing printed yet."
	case r.Last.Made != "":
		return "The run printed nothing. It created " + widget.Plain(r.Last.Creation()) +
			". Press " + m.Keys.KeyText("focus.work") + " to see the work."
	}
	return "The run printed nothing."
}

func runTab(m *state.Room) widget.Tab {
	r := m.Automations.Current()
	dot := m.Look.Glyphs.Dot
	t := widget.Tab{Key: "0", Name: r.Shown, Count: dot + " " + r.LastRunText(m.Now)}
	switch {
	case r.LastUnknown:
	case r.Last == nil:
		t.Count = dot + " never run"
	case r.Last.Ended == nil && !r.Last.Ending():
		t.Count = dot + " running " + widget.Since(r.Last.Opened, m.Now)
	}
	if r.Last != nil && m.Peek.News.Run == r.Last.ID {
		extra := addPaneSearch(m, &t, []string{t.Count})
		switch {
		case m.Peek.Frozen():
			extra = append(extra, newOutputText(m))
		case m.Peek.News.Problem != "" && len(m.Peek.News.Text) > 0:
			extra = append(extra, notFollowing(m))
		}
		t.Count = strings.Join(viewOfPane(m, extra), "  ")
	}
	return t
}
