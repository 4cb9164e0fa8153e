package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/screen"
	"gcity/tui/widget"
)

// Pane is the state of the pane. It shows an agent's terminal or a run's output, live or frozen.
type Pane struct {
	News    News
	Version uint64
	Logs    bool // show all stored output, not only the newest
	Wrap    bool
	Fit     bool // show as much of the terminal as possible

	older      []PaneLine // output of earlier sessions of the agent, received while watching
	olderLines uint64
	bookmarks  []bookmark

	FrozenPicture *Picture // the frozen content; nil = the pane follows the output
	// first visible row of FrozenPicture; unused for a full-screen program
	Top             rowPosition
	LinesWhenFrozen uint64

	X       int  // number of columns hidden on the left
	Y       int  // number of rows of a full-screen program hidden at the top
	YChosen bool // the user has chosen Y; otherwise Y follows the cursor

	Search Search

	lastOutput time.Time // when the watched session last wrote; zero = not since watching began

	fullScreen fullScreenCache
	Crops      widget.RowCache
}

type fullScreenCache struct {
	screen  Screen
	version uint64
	full    bool
}

// PaneLine is a line of a terminal, or a labeled rule between two such lines.
type PaneLine struct {
	Text string // text and SGR
	Rule string // label of a horizontal rule; "" = a line of the terminal
}

// Picture is the content of a terminal at one moment.
type Picture struct {
	Lines  []PaneLine // oldest first
	Full   bool       // it is a full-screen program, which has no history
	cursor int        // row of the cursor; -1 = hidden
}

type rowPosition struct{ line, row int }

// RecordOutput records the time of the latest output. It ignores a session's first News, which contains earlier output.
func (p *Pane) RecordOutput(n *News, now time.Time) {
	switch old := &p.News; {
	case n.Agent != old.Agent || n.Session != old.Session || n.Run != "" || n.Screen == nil:
		p.lastOutput = time.Time{}
	case old.Screen != nil && !n.Ended:
		p.lastOutput = now
	}
}

// LastOutput returns the time of the latest output from an agent's session, or the zero time if that is unknown.
func (p *Pane) LastOutput(agent string) time.Time {
	if p.News.Agent != agent {
		return time.Time{}
	}
	return p.lastOutput
}

// Apply applies news about the terminal. The parameter sessionRule is the label above the output of a new session.
func (p *Pane) Apply(n News, sessionRule string) {
	switch old := &p.News; {
	case n.Agent != old.Agent || n.Run != old.Run:
		p.Follow()
		p.older, p.olderLines, p.X, p.Search = nil, 0, 0, Search{}
	case n.Session == old.Session || n.Session == "" || old.Session == "":
		if n.LinesReceived < old.LinesReceived { // the watch was restarted
			p.olderLines += old.LinesReceived
		}
	case n.Screen == nil:
		p.Follow()
	default:
		p.older = append(Tail(p.recent(Scrollback, false).Lines, Scrollback),
			PaneLine{Rule: sessionRule})
		p.olderLines += old.LinesReceived
		p.YChosen = false
	}
	p.News = n
	p.locateBookmarks()
	p.Version++
}

// LinesReceived returns the number of lines received since watching began.
func (p *Pane) LinesReceived() uint64 { return p.olderLines + p.News.LinesReceived }

func (p *Pane) Frozen() bool { return p.FrozenPicture != nil }

func (p *Pane) Follow() { p.FrozenPicture, p.YChosen, p.Search.Hits = nil, false, nil }

// Freeze freezes the pane at s.
func (p *Pane) Freeze(s Picture) {
	p.FrozenPicture, p.LinesWhenFrozen = &s, p.LinesReceived()
	p.Search.Find(s.Lines)
	p.Search.Nearest(len(s.Lines))
}

// All returns everything that can be scrolled through.
func (p *Pane) All() Picture {
	if p.FrozenPicture != nil {
		return *p.FrozenPicture
	}
	return p.recent(widget.Unlimited, false)
}

func (p *Pane) recent(n int, cursor bool) Picture {
	if p.News.Screen == nil {
		lines := make([]PaneLine, 0, len(p.News.Text))
		for _, s := range Tail(p.News.Text, n) {
			lines = append(lines, PaneLine{Text: s})
		}
		return Picture{Lines: lines, cursor: -1}
	}
	shot := p.shot(n)
	at := -1
	if shot.Cursor && !p.News.Ended && shot.Y < len(shot.Lines) {
		at = shot.Y
		if cursor {
			shot.Lines[at] = widget.Overlay(shot.Lines[at],
				widget.Span{From: shot.X, To: shot.X + 1, Style: Inverse})
		}
	}
	if p.fullScreen.full {
		lines := make([]PaneLine, len(shot.Lines))
		for i, s := range shot.Lines {
			lines[i].Text = s
		}
		return Picture{Lines: lines, Full: true, cursor: at}
	}
	shown := shot.Lines[:used(shot.Lines, shot.Y)]
	past := Tail(shot.Past, max(0, n-len(shown)))
	lines := p.withBookmarks(slices.Concat(past, shown), shot.ScrolledOff-uint64(len(past)))
	if missing := n - len(lines); missing > 0 {
		lines = slices.Concat(Tail(p.older, missing), lines)
	}
	return Picture{Lines: Tail(lines, n), cursor: at}
}

// isFullScreen reports whether the screen shows a full-screen program, even one on the main screen.
func isFullScreen(s *screen.Shot) bool {
	n := used(s.Lines, s.Y)
	return s.Alt || n-1-s.Y >= max(2, len(s.Lines)/2) || !s.Cursor && s.ScrolledOff == 0 &&
		n == len(s.Lines)
}

// Inverse is the style of the cursor and of search matches.
const Inverse = "\x1b[7m"

func used(lines []string, cursor int) int {
	n := len(lines)
	for n > 0 && n-1 > cursor && blankText(lines[n-1]) {
		n--
	}
	return n
}

func blankText(s string) bool { return strings.TrimSpace(ansi.Strip(s)) == "" }

func Tail[E any](lines []E, h int) []E { return lines[max(0, len(lines)-h):] }

// Full reports whether a full-screen program is shown.
func (p *Pane) Full() bool {
	switch {
	case p.FrozenPicture != nil:
		return p.FrozenPicture.Full
	case p.News.Screen == nil:
		return false
	}
	if s := p.News.Screen; p.fullScreen.screen != s || p.fullScreen.version != s.Version() {
		p.shot(0)
	}
	return p.fullScreen.full
}

// shot returns the screen with n lines of its history, and updates the cached result of isFullScreen.
func (p *Pane) shot(n int) screen.Shot {
	s := p.News.Screen
	// read the version first, so that output that arrives in the meantime is checked next time
	version := s.Version()
	shot := s.Shot(n)
	p.fullScreen = fullScreenCache{s, version, isFullScreen(&shot)}
	return shot
}

// Scroll moves the view n rows down, or up if n is negative. Moving up freezes the output. Reaching the end resumes
// following it.
func (p *Pane) Scroll(n, w, h int) {
	if p.Full() {
		s, _ := p.compacted(p.All(), w, h)
		p.Y = max(0, min(p.firstRow(s, h)+n, len(s.Lines)-h))
		p.YChosen = true
		return
	}
	if p.FrozenPicture == nil {
		if n >= 0 {
			return
		}
		s := p.All()
		end := p.LastTop(s.Lines, w, h)
		if end == (rowPosition{}) {
			return
		}
		p.Freeze(s)
		p.Top = end
	}
	lines := p.FrozenPicture.Lines
	p.Top = p.moved(lines, p.Top, n, w)
	if end := p.LastTop(lines, w, h); !p.Top.before(end) {
		p.Top = end
		if n > 0 {
			p.Follow()
		}
	}
}

func (a rowPosition) before(b rowPosition) bool {
	return a.line < b.line || a.line == b.line && a.row < b.row
}

func (p *Pane) moved(lines []PaneLine, at rowPosition, n, w int) rowPosition {
	for ; n < 0 && at != (rowPosition{}); n++ {
		if at.row--; at.row < 0 {
			at.line--
			at.row = p.height(lines[at.line], w) - 1
		}
	}
	for ; n > 0 && at.line < len(lines); n-- {
		if at.row++; at.row >= p.height(lines[at.line], w) {
			at = rowPosition{line: at.line + 1}
		}
	}
	return at
}

// LastTop returns the position of the first of the last h rows.
func (p *Pane) LastTop(lines []PaneLine, w, h int) rowPosition {
	return p.moved(lines, rowPosition{line: len(lines)}, -h, w)
}

func (p *Pane) wraps() bool { return p.Wrap || p.Fit }

func (p *Pane) height(l PaneLine, w int) int {
	if l.Rule != "" || !p.wraps() || widget.Width(l.Text) <= w {
		return 1
	}
	return len(widget.HardWrap(l.Text, w))
}

// Window returns at most h rows to show in w columns. The rows might be wider than w.
func (p *Pane) Window(w, h int) []PaneLine {
	var s Picture
	if p.FrozenPicture != nil {
		s = *p.FrozenPicture
	} else {
		s = p.recent(h, true)
	}
	if s.Full {
		s.Lines = p.highlighted(s.Lines, 0)
		s, _ = p.compacted(s, w, h)
		rows := s.Lines[p.firstRow(s, h):]
		return p.panned(rows[:min(h, len(rows))])
	}
	at := rowPosition{}
	if p.FrozenPicture != nil {
		at = p.Top
		// the pane has grown, or lines are now wrapped differently
		if end := p.LastTop(s.Lines, w, h); end.before(at) {
			at = end
		}
	}
	var rows []PaneLine
	for i, l := range p.highlighted(s.Lines[at.line:min(len(s.Lines), at.line+h+1)], at.line) {
		if l.Rule != "" || !p.wraps() {
			rows = append(rows, l)
			continue
		}
		parts := widget.HardWrap(l.Text, w)
		if i == 0 {
			parts = parts[min(at.row, len(parts)-1):]
		}
		for _, text := range parts {
			rows = append(rows, PaneLine{Text: text})
		}
	}
	if p.FrozenPicture == nil {
		rows = Tail(rows, h)
	}
	return p.panned(rows[:min(h, len(rows))])
}

func (p *Pane) panned(rows []PaneLine) []PaneLine {
	if p.X == 0 || p.wraps() && !p.Full() {
		return rows
	}
	out := slices.Clone(rows)
	for i := range out {
		out[i].Text = widget.SkipColumns(out[i].Text, p.X)
	}
	return out
}

func (p *Pane) firstRow(s Picture, h int) int {
	most := max(0, len(s.Lines)-h)
	if p.YChosen {
		return min(p.Y, most)
	}
	return max(0, min(s.cursor-h+1, most))
}

// ScrollColumns moves the view n columns to the right, or to the left if n is negative.
func (p *Pane) ScrollColumns(n, w int) {
	widest := 0
	s := p.All()
	if p.FrozenPicture == nil && !s.Full {
		s.Lines = Tail(s.Lines, DefaultRows)
	}
	for _, l := range s.Lines {
		widest = max(widest, widget.Width(l.Text))
	}
	p.X = max(0, min(p.X+n, widest-w))
}

// Back ends the search, or returns to the newest output or to the first column. It reports whether it did anything.
func (p *Pane) Back() bool {
	switch {
	case p.Search.Re != nil:
		p.Search = Search{}
	case p.Frozen() || p.YChosen:
		p.Follow()
	case p.X > 0:
		p.X = 0
	default:
		return false
	}
	return true
}

// Output returns the picture's lines as one string, with styles if color is set.
func (s Picture) Output(color bool) string {
	var b strings.Builder
	for _, l := range s.Lines {
		text := l.Text
		switch {
		case l.Rule != "":
			text = "-- " + l.Rule + " --"
		case !color:
			text = strings.TrimRight(ansi.Strip(text), " ")
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
