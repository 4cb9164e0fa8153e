package view

import (
	"fmt"
	"strings"

	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

func peekPanel(m *state.Room, w, h int, focus bool, tabs []widget.Tab) []string {
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.Peek.Version, Rows: m.Agents.Version,
		UI: m.UI}
	if state.ShowsRun(m) {
		key.Rows, key.Second = m.Automations.Version, m.Now.Unix()
		return m.Pane.Lines(key, func() []string { return drawRun(m, w, h, focus, tabs) })
	}
	return m.Pane.Lines(key, func() []string { return drawPeek(m, w, h, focus, tabs) })
}

func drawPeek(m *state.Room, w, h int, focus bool, tabs []widget.Tab) []string {
	lines := append(make([]string, 0, h), m.Look.Title(w, focus, tabs, peekNote(m)))
	row := state.Selected(m)
	switch {
	case row == nil:
		return widget.FillRows(append(lines, m.Look.Notes(w, noAgentText(m))...), w, h)
	case m.Peek.News.Agent != row.Name:
		return widget.FillRows(lines, w, h)
	case m.Peek.News.Screen == nil && len(m.Peek.News.Text) == 0:
		lines = append(lines, m.Look.Notes(w, emptyPaneText(m, row))...)
		if row.HasOutput() {
			lines = append(lines, outputFileLine(m, row, w))
		}
		return widget.FillRows(lines, w, h)
	}
	room := state.PeekRows(m, h)
	lines = widget.FillRows(append(lines, paneRows(m, w, room)...), w, room+1)
	if room < h-1 {
		lines = append(lines, outputFileLine(m, row, w))
	}
	return widget.FillRows(lines, w, h)
}

// paneRows returns at most h rows of the terminal or the run.
func paneRows(m *state.Room, w, h int) (rows []string) {
	cropped := m.Peek.Crops.Cropper(w - 1)
	for _, l := range m.Peek.Window(w-1, h) {
		rows = append(rows, " "+paneRow(m, l, w-1, cropped))
	}
	return rows
}

func paneRow(m *state.Room, l terminal.PaneLine, w int, cropped func(string) string) string {
	if l.Rule == "" {
		return cropped(l.Text)
	}
	out := widget.Line{Styles: &m.Look}
	thin := m.Look.Glyphs.Thin
	out.Add(themes.Rule, strings.Repeat(thin, 2)+" ")
	out.Add(themes.Accent, m.Look.Cut(l.Rule, w-5))
	out.Add(themes.Rule, " "+strings.Repeat(thin, max(0, w-out.Width-1)))
	return widget.Crop(out.String(), w)
}

func outputFileLine(m *state.Room, r *panel.AgentRow, w int) string {
	l := widget.Line{Styles: &m.Look}
	l.Add(themes.Dim, m.Look.Cut(" stored in "+widget.Plain(r.Exit.File), w))
	return l.Fill(w)
}

func emptyPaneText(m *state.Room, r *panel.AgentRow) string {
	switch stopped := m.Env().Stopped; {
	case stopped != "" && (r.Running || r.HasOutput()):
		return "The output of " + r.Shown + " cannot be read: " + stopped + "."
	case m.Peek.News.Problem != "":
		return "Nothing to show: " + widget.Plain(m.Peek.News.Problem)
	case !r.Running:
		return fmt.Sprintf("%s %s; %s.", r.Shown, r.State.Is(), state.Unstored(r))
	}
	return "No output yet."
}

func nothingSelected(m *state.Room, p panel.Panel) string {
	text := state.NothingSelected(m, p)
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func noAgentText(m *state.Room) string {
	p := m.Focused()
	name := p.Called()
	if len(*p.Marking().Marks) > 0 { // the pane shows only the row under the cursor
		name = widget.Plain(p.Key())
	}
	_, _, shown, total := p.Cursor()
	switch a := p.About(); {
	case shown == 0 && total > 0:
		return nothingSelected(m, p)
	case shown == 0 && a.Kind != panel.KindAgent:
		return "No " + a.Noun + " is selected."
	case a.Kind == panel.KindPool && name != "":
		return "No member of " + name + " is running."
	case !a.Follows || name == "":
		return "The selected agent's terminal appears here."
	case a.Kind == panel.KindBead:
		return "The bead " + name + " is not assigned to an agent."
	default:
		return "The " + a.Noun + " " + name + " does not belong to an agent that exists."
	}
}

func peekTab(m *state.Room) widget.Tab {
	if state.ShowsRun(m) {
		return runTab(m)
	}
	t := widget.Tab{Key: "0", Name: "Pane"}
	row := state.Selected(m)
	if row == nil {
		return t
	}
	t.Name = row.Shown
	n := &m.Peek.News
	if n.Agent != row.Name {
		if row.Running && !m.Peek.Logs { // predict the title, so that it need not be drawn again
			t.Count = "following"
		}
		return t
	}
	var extra []string
	if m.Peek.Logs {
		extra = append(extra, "logs")
	}
	extra = addPaneSearch(m, &t, extra)
	switch {
	case m.Peek.Frozen():
		extra = append(extra, newOutputText(m))
	case !row.Running && (n.Screen != nil || len(n.Text) > 0):
		extra = append(extra, "last output")
	case n.Screen != nil && m.Unreachable != "":
		extra = append(extra, "frozen at "+m.SilentSince.Format("15:04:05"))
	case n.Screen != nil && n.Problem != "":
		extra = append(extra, notFollowing(m))
	case n.Screen != nil:
		extra = append(extra, "following")
	}
	extra = viewOfPane(m, extra)
	t.Count = strings.Join(extra, "  ")
	return t
}

// notFollowing returns the reason why the pane does not show the newest output.
func notFollowing(m *state.Room) string {
	const width = 40
	return "not following: " + m.Look.Cut(widget.Plain(m.Peek.News.Problem), width)
}

func addPaneSearch(m *state.Room, t *widget.Tab, extra []string) []string {
	if s := &m.Peek.Search; s.Re != nil {
		t.Search = "/" + m.Look.Cut(s.Text, 24)
		switch {
		case len(s.Hits) > 0:
			more := ""
			if len(s.Hits) == terminal.MaxHits {
				more = "+"
			}
			extra = append(extra, fmt.Sprintf("%d of %d%s", s.At+1, len(s.Hits), more))
		case m.Dialogs.Prompt() != nil || m.Peek.Frozen():
			extra = append(extra, "not found")
		}
	}
	return extra
}

func viewOfPane(m *state.Room, extra []string) []string {
	switch {
	case m.Peek.Fit:
		extra = append(extra, "fit")
	case m.Peek.Wrap:
		extra = append(extra, "wrapped")
	}
	if m.Peek.YChosen && m.Peek.Full() {
		extra = append(extra, fmt.Sprintf("from row %d", m.Peek.Y+1))
	}
	if m.Peek.X > 0 {
		extra = append(extra, fmt.Sprintf("from column %d", m.Peek.X+1))
	}
	return extra
}

func newOutputText(m *state.Room) string {
	before := ""
	if m.Focus != panel.IDPeek {
		before = m.Keys.KeyText("focus.peek") + " " // elsewhere, G moves the cursor of a list
	}
	if m.Peek.FrozenPicture.Full {
		return m.Env().NewText(0, before)
	}
	return m.Env().NewText(m.Peek.LinesReceived()-m.Peek.LinesWhenFrozen, before)
}

func peekNote(m *state.Room) string {
	row := state.Selected(m)
	if row == nil || m.Peek.News.Agent != row.Name {
		return ""
	}
	var parts []string
	if s := m.Peek.News.Screen; s != nil {
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
	if !row.Running && row.Exit != nil && !row.Exit.Earlier {
		parts = append(parts, panel.LastExit(row.Exit))
	}
	return strings.Join(parts, m.Look.Between())
}
