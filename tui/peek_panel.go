package tui

import (
	"fmt"
	"strings"

	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

func peekPanel(m *model, w, h int, focus bool, tabs []widget.Tab) []string {
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.peek.Version, Rows: m.Agents.Version,
		UI: m.UI}
	if showsRun(m) {
		key.Rows, key.Second = m.Automations.Version, m.now.Unix()
		return m.pane.Lines(key, func() []string { return drawRun(m, w, h, focus, tabs) })
	}
	return m.pane.Lines(key, func() []string { return drawPeek(m, w, h, focus, tabs) })
}

func drawPeek(m *model, w, h int, focus bool, tabs []widget.Tab) []string {
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs, peekNote(m)))
	row := selected(m)
	switch {
	case row == nil:
		return widget.FillRows(append(lines,
			m.look.Note("The selected agent's terminal appears here.", w)), w, h)
	case m.peek.News.Agent != row.Name:
		return widget.FillRows(lines, w, h)
	case m.peek.News.Screen == nil && len(m.peek.News.Text) == 0:
		lines = append(lines, m.look.Notes(w, nothingSeen(m, row))...)
		if row.Keeps() {
			lines = append(lines, keptLine(m, row, w))
		}
		return widget.FillRows(lines, w, h)
	}
	room := peekRows(m, h)
	cropped := m.peek.Crops.Cropper(w - 1)
	for _, l := range m.peek.Window(w-1, room) {
		lines = append(lines, " "+paneRow(m, l, w-1, cropped))
	}
	lines = widget.FillRows(lines, w, room+1)
	if room < h-1 {
		lines = append(lines, keptLine(m, row, w))
	}
	return widget.FillRows(lines, w, h)
}

// paneRow draws a row of a terminal, or a rule across the pane.
func paneRow(m *model, l terminal.PaneLine, w int, cropped func(string) string) string {
	if l.Rule == "" {
		return cropped(l.Text)
	}
	out := widget.Line{Styles: &m.look}
	thin := m.look.Glyphs.Thin
	out.Add(themes.Rule, strings.Repeat(thin, 2)+" ")
	out.Add(themes.Accent, widget.Cut(l.Rule, w-5, m.look.Glyphs.More))
	out.Add(themes.Rule, " "+strings.Repeat(thin, max(0, w-out.Width-1)))
	return widget.Crop(out.String(), w)
}

// keptLine names the file with an ended agent's output.
func keptLine(m *model, r *panel.AgentRow, w int) string {
	l := widget.Line{Styles: &m.look}
	l.Add(themes.Dim, widget.Cut(" stored in "+widget.Plain(r.Exit.File), w, m.look.Glyphs.More))
	return l.Fill(w)
}

// nothingSeen returns a text that says why the pane is empty.
func nothingSeen(m *model, r *panel.AgentRow) string {
	switch {
	case m.peek.News.Problem != "" && r.Running:
		return "Nothing to show: " + widget.Plain(m.peek.News.Problem)
	case !r.Running:
		return fmt.Sprintf("%s is %s and has left no output.", r.Shown, panel.InState(r.State))
	}
	return "No output yet."
}

// peekTab returns the pane's title: the agent and the kind of view.
func peekTab(m *model) widget.Tab {
	if showsRun(m) {
		return runTab(m)
	}
	t := widget.Tab{Key: "0", Name: "Peek"}
	row := selected(m)
	if row == nil {
		return t
	}
	t.Name = row.Shown
	n := &m.peek.News
	if n.Agent != row.Name {
		return t
	}
	var extra []string
	if m.peek.Logs {
		extra = append(extra, "logs")
	}
	extra = soughtInPane(m, &t, extra)
	switch {
	case m.peek.Frozen():
		extra = append(extra, behindPane(m))
	case !row.Running && (n.Screen != nil || len(n.Text) > 0):
		extra = append(extra, "last output")
	case n.Screen != nil:
		extra = append(extra, "following")
	}
	extra = viewOfPane(m, extra)
	t.Extra = strings.Join(extra, "  ")
	return t
}

// soughtInPane adds the search and the current match to the pane's title.
func soughtInPane(m *model, t *widget.Tab, extra []string) []string {
	if s := &m.peek.Seek; s.Re != nil {
		t.Search = "/" + widget.Cut(s.Text, 24, m.look.Glyphs.More)
		switch {
		case len(s.Hits) > 0:
			more := ""
			if len(s.Hits) == terminal.MaxHits {
				more = "+"
			}
			extra = append(extra, fmt.Sprintf("%d of %d%s", s.At+1, len(s.Hits), more))
		case m.dialogs.prompt() != nil || m.peek.Frozen():
			extra = append(extra, "not found")
		}
	}
	return extra
}

// viewOfPane adds the mode of the pane's view to the title.
func viewOfPane(m *model, extra []string) []string {
	switch {
	case m.peek.Fit:
		extra = append(extra, "fit")
	case m.peek.Wrap:
		extra = append(extra, "wrapped")
	}
	if m.peek.Pinned && m.peek.Full() {
		extra = append(extra, fmt.Sprintf("from row %d", m.peek.Y+1))
	}
	if m.peek.X > 0 {
		extra = append(extra, fmt.Sprintf("from column %d", m.peek.X+1))
	}
	return extra
}

// behindPane returns how much output has arrived since the pane was frozen.
func behindPane(m *model) string {
	if m.peek.Past.Full {
		return m.env().Behind(0)
	}
	return m.env().Behind(m.peek.Fed() - m.peek.FedAt)
}

// peekNote is the right end of the pane's rule: size, viewers, and the last exit of an agent that is not running.
func peekNote(m *model) string {
	row := selected(m)
	if row == nil || m.peek.News.Agent != row.Name {
		return ""
	}
	var parts []string
	if s := m.peek.News.Screen; s != nil {
		cols, rows := s.Size()
		parts = append(parts, fmt.Sprintf("%dx%d", cols, rows))
	}
	if row.Running && row.Session != nil {
		switch n := row.Session.Viewers; {
		case n > 0:
			parts = append(parts, widget.Count(n, "viewer"))
		case row.Session.Attached:
			parts = append(parts, "attached")
		}
	}
	if !row.Running && row.Exit != nil {
		parts = append(parts, panel.LastExit(row.Exit))
	}
	return strings.Join(parts, " "+m.look.Glyphs.Dot+" ")
}
