package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
)

// peek is the pane: an agent's terminal as it is now, or, once scrolled, as it was when scrolling began.
type peek struct {
	news    paneNews
	version uint64
	fit     bool // wrap what is wider than the pane

	past   []string // frozen: all lines, oldest first; nil = following
	offset int      // first visible line of past
	fedAt  uint64   // lines fed when it froze
}

// take looks at the terminal anew.
func (p *peek) take(n paneNews) {
	if n.agent != p.news.agent || n.session != p.news.session && n.session != "" {
		p.past = nil
	}
	n.text = slices.Clone(n.text)
	for i := range n.text {
		n.text[i] = plain(n.text[i])
	}
	p.news = n
	p.version++
}

func (p *peek) frozen() bool { return p.past != nil }

func (p *peek) follow() { p.past = nil }

// all is everything that can be scrolled through.
func (p *peek) all() []string {
	s := p.news.screen
	if s == nil {
		return p.news.text
	}
	cols, rows := s.Size()
	lines := s.Lines(cols, rows)
	if s.Alt() {
		return lines
	}
	_, y, _ := s.Cursor()
	return slices.Concat(s.History(0, s.HistoryLen()), lines[:used(lines, y)])
}

// used is how many lines of a screen hold anything, the cursor's included.
func used(lines []string, cursor int) int {
	n := len(lines)
	for n > 0 && n-1 > cursor && strings.TrimSpace(ansi.Strip(lines[n-1])) == "" {
		n--
	}
	return n
}

// scroll moves n lines down, negative up. Going up freezes; reaching the end follows again.
func (p *peek) scroll(n, h int) {
	if p.past == nil {
		if n >= 0 {
			return
		}
		all := p.all()
		if len(all) <= h {
			return
		}
		p.past, p.offset, p.fedAt = all, len(all)-h, p.news.fed
	}
	p.offset = max(0, min(p.offset+n, len(p.past)-h))
	if n > 0 && p.offset >= len(p.past)-h {
		p.follow()
	}
}

// window returns h lines of at most w columns as they are to be shown.
func (p *peek) window(w, h int) []string {
	var lines []string
	switch {
	case p.past != nil:
		lines = p.past[min(p.offset, len(p.past)):]
	case p.news.screen == nil:
		lines = tail(p.news.text, h)
	default:
		lines = p.live(h)
	}
	if p.fit {
		lines = wrap(lines, w)
		if p.past == nil {
			lines = tail(lines, h)
		}
	}
	out := make([]string, 0, h)
	for _, s := range lines[:min(h, len(lines))] {
		out = append(out, crop(s, w))
	}
	return fillRows(out, w, h)
}

// live is the part of the screen that matters in h lines: the end of what is used, with history above it where there
// is room; of a full-screen program the top, as long as the cursor is in it.
func (p *peek) live(h int) []string {
	s := p.news.screen
	cols, rows := s.Size()
	lines := s.Lines(cols, rows)
	x, y, visible := s.Cursor()
	visible = visible && !p.news.ended
	if visible && y < len(lines) {
		lines[y] = withCursor(lines[y], x)
	}
	if s.Alt() {
		from := 0
		if visible && y >= h {
			from = y - h + 1
		}
		return lines[from:]
	}
	lines = lines[:used(lines, y)]
	if missing := h - len(lines); missing > 0 {
		n := s.HistoryLen()
		lines = slices.Concat(s.History(max(0, n-missing), missing), lines)
	}
	return tail(lines, h)
}

func tail(lines []string, h int) []string { return lines[max(0, len(lines)-h):] }

// withCursor shows one cell of a line in reverse.
func withCursor(s string, x int) string {
	w := ansi.StringWidth(s)
	if x >= w {
		return s + reset + blanks(x-w) + "\x1b[7m \x1b[m"
	}
	cell := ansi.Strip(ansi.Cut(s, x, x+1))
	if cell == "" {
		return s
	}
	return ansi.Cut(s, 0, x) + reset + "\x1b[7m" + cell + reset + ansi.Cut(s, x+ansi.StringWidth(cell), w)
}

func wrap(lines []string, w int) []string {
	var out []string
	for _, s := range lines {
		if width(s) <= w {
			out = append(out, s)
			continue
		}
		for width(s) > w {
			out = append(out, ansi.Cut(s, 0, w)+reset)
			s = ansi.Cut(s, w, width(s))
		}
		out = append(out, s)
	}
	return out
}

// peekPanel draws the pane.
func (m *model) peekPanel(w, h int, focus bool, tabs []tab) []string {
	key := panelKey{w: w, h: h, focus: focus, data: m.peek.version, rows: m.roster.version, ui: m.ui}
	return m.cache[panelPeek].lines(key, func() []string { return m.drawPeek(w, h, focus, tabs) })
}

func (m *model) drawPeek(w, h int, focus bool, tabs []tab) []string {
	lines := append(make([]string, 0, h), m.rule(w, focus, tabs, m.peekNote()))
	row := m.selected()
	switch {
	case row == nil:
		return fillRows(append(lines, m.note("The selected agent's terminal appears here.", w)), w, h)
	case m.peek.news.agent != row.name:
		return fillRows(lines, w, h)
	case m.peek.news.screen == nil && len(m.peek.news.text) == 0:
		lines = append(lines, m.note(m.nothingSeen(row), w))
		if row.keeps() {
			lines = append(lines, m.keptLine(row, w))
		}
		return fillRows(lines, w, h)
	}
	room := m.peekRows(h)
	for _, s := range m.peek.window(w-1, room) {
		lines = append(lines, " "+s)
	}
	if room < h-1 {
		lines = append(lines, m.keptLine(row, w))
	}
	return lines
}

// peekRows is how much of the terminal a pane of h lines shows: an ended one leaves a line to the file that has all of
// its last words.
func (m *model) peekRows(h int) int {
	if r := m.selected(); r != nil && r.keeps() && h > 4 {
		return h - 2
	}
	return max(1, h-1)
}

// keeps reports whether an agent has ended and left a file.
func (r *agentRow) keeps() bool { return !r.running && r.exit != nil && r.exit.File != "" }

// keptLine says where an ended agent's output is kept.
func (m *model) keptLine(r *agentRow, w int) string {
	l := line{look: &m.look}
	l.add(themes.Dim, cut(" kept in "+plain(r.exit.File), w, m.look.glyph.More))
	return l.close(w)
}

// nothingSeen says why the pane is empty.
func (m *model) nothingSeen(r *agentRow) string {
	switch {
	case m.peek.news.problem != "" && r.running:
		return "Nothing to see: " + plain(m.peek.news.problem)
	case !r.running:
		return fmt.Sprintf("%s is %s and has left no output.", r.shown, r.state)
	}
	return "Nothing yet."
}

// peekTab is the pane's title: whose terminal it is, and what of it.
func (m *model) peekTab() tab {
	t := tab{key: "0", name: "Peek"}
	row := m.selected()
	if row == nil {
		return t
	}
	t.name = row.shown
	n := &m.peek.news
	switch {
	case n.agent != row.name:
		t.extra = ""
	case m.peek.frozen():
		t.extra = behind(n.fed - m.peek.fedAt)
	case !row.running && (n.screen != nil || len(n.text) > 0):
		t.extra = "last words"
	case n.screen != nil:
		t.extra = "following"
	}
	if m.peek.fit {
		t.extra = strings.TrimSpace(t.extra + "  fit")
	}
	return t
}

// peekNote is the right end of the pane's rule: size and viewers.
func (m *model) peekNote() string {
	row := m.selected()
	if row == nil || m.peek.news.agent != row.name {
		return ""
	}
	var parts []string
	if s := m.peek.news.screen; s != nil {
		cols, rows := s.Size()
		parts = append(parts, fmt.Sprintf("%dx%d", cols, rows))
	}
	if row.running && row.session != nil {
		switch n := row.session.Viewers; {
		case n > 0:
			parts = append(parts, count(n, "viewer"))
		case row.session.Attached:
			parts = append(parts, "attached")
		}
	}
	if !row.running && row.exit != nil {
		parts = append(parts, lastExit(row.exit))
	}
	return strings.Join(parts, " "+m.look.glyph.Dot+" ")
}

// watching is what the pane should show now.
func (m *model) watching() watch {
	row := m.selected()
	if row == nil || !m.peekVisible() {
		return watch{}
	}
	w := watch{agent: row.name, running: row.running, focused: m.focus == panelPeek}
	switch {
	case row.session != nil:
		w.session = row.session.ID
	case m.watched.agent == row.name:
		w.session = m.watched.session // what it last said stays
	}
	return w
}

const fieldWidth = 12

// field is one row of a detail view.
func (m *model) field(name, value string) string {
	if value == "" {
		value = "-"
	}
	return m.look.paint(themes.Dim, fit(name, fieldWidth, "")) + value
}
