package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/screen"
	"gcity/tui/widget"
)

// peek is the pane: an agent's terminal, or what a run prints, as it is now, or, once scrolled, as it was when
// scrolling began.
type peek struct {
	news    paneNews
	version uint64
	logs    bool // all that is kept of the output, not only the newest
	wrap    bool // lines wider than the pane
	fit     bool // as much of the terminal as can be

	older    []paneLine // what the agent's earlier lives said while it was watched
	fedOlder uint64     // lines fed by them
	notches  []notch

	past  *picture // frozen: what there was; nil = following
	top   spot     // first visible row of past, where it is lines
	fedAt uint64   // lines fed when it froze

	x      int  // columns left out on the left
	y      int  // rows of a full-screen program left out at the top
	pinned bool // y was chosen; else the cursor is followed

	seek lookup

	judged judged
	crops  widget.RowCache
}

// judged is what was said last of whether a screen is a full-screen program's: it is asked more often than it changes.
type judged struct {
	screen  terminal
	version uint64
	full    bool
}

// paneLine is a line of a terminal, or a rule between two.
type paneLine struct {
	text string // text and SGR
	rule string // what a rule says, "" = it is a line
}

// picture is what a terminal shows at one moment.
type picture struct {
	lines  []paneLine // oldest first
	full   bool       // a full-screen program's: rows of a screen, no history
	cursor int        // the row the cursor is in, -1 = it is not shown
}

// spot is a row of lines that may be wrapped.
type spot struct{ line, row int }

// take looks at the terminal anew; born is what to say above a new life of the same agent.
func (p *peek) take(n paneNews, born string) {
	switch old := &p.news; {
	case n.agent != old.agent || n.run != old.run:
		p.follow()
		p.older, p.fedOlder, p.x = nil, 0, 0
	case n.session == old.session || n.session == "" || old.session == "":
		if n.fed < old.fed { // watched anew
			p.fedOlder += old.fed
		}
	case n.screen == nil:
		p.follow()
	default:
		p.older = append(tail(p.recent(scrollback, false).lines, scrollback), paneLine{rule: born})
		p.fedOlder += old.fed
		p.pinned = false
	}
	p.news = n
	p.place()
	p.version++
}

// fed is how many lines have come since the agent is watched.
func (p *peek) fed() uint64 { return p.fedOlder + p.news.fed }

func (p *peek) frozen() bool { return p.past != nil }

func (p *peek) follow() { p.past, p.pinned, p.seek.hits = nil, false, nil }

// hold freezes what there is.
func (p *peek) hold(s picture) {
	p.past, p.fedAt = &s, p.fed()
	p.seek.find(s.lines)
	p.seek.nearest(len(s.lines))
}

// all is everything that can be scrolled through.
func (p *peek) all() picture {
	if p.past != nil {
		return *p.past
	}
	return p.recent(far, false)
}

// recent is what there is now: of lines the last n, of a full-screen program its screen. The cursor is painted if asked
// for.
func (p *peek) recent(n int, cursor bool) picture {
	if p.news.screen == nil {
		lines := make([]paneLine, 0, len(p.news.text))
		for _, s := range tail(p.news.text, n) {
			lines = append(lines, paneLine{text: s})
		}
		return picture{lines: lines, cursor: -1}
	}
	shot := p.shot(n)
	at := -1
	if shot.Cursor && !p.news.ended && shot.Y < len(shot.Lines) {
		at = shot.Y
		if cursor {
			shot.Lines[at] = widget.Overlay(shot.Lines[at],
				widget.Stretch{From: shot.X, To: shot.X + 1, On: inverse})
		}
	}
	if p.judged.full {
		lines := make([]paneLine, len(shot.Lines))
		for i, s := range shot.Lines {
			lines[i].text = s
		}
		return picture{lines: lines, full: true, cursor: at}
	}
	shown := shot.Lines[:used(shot.Lines, shot.Y)]
	past := tail(shot.Past, max(0, n-len(shown)))
	lines := p.notched(slices.Concat(past, shown), shot.Gone-uint64(len(past)))
	if missing := n - len(lines); missing > 0 {
		lines = slices.Concat(tail(p.older, missing), lines)
	}
	return picture{lines: tail(lines, n), cursor: at}
}

// whole reports whether a screen is a program's that puts text wherever it likes: the alternate one; one where the
// cursor stands high above most of what there is, while where lines come one after the other it stands below them;
// and one without a cursor that is full though no line ever left it.
func whole(s *screen.Shot) bool {
	n := used(s.Lines, s.Y)
	return s.Alt || n-1-s.Y >= max(2, len(s.Lines)/2) || !s.Cursor && s.Gone == 0 &&
		n == len(s.Lines)
}

// inverse paints the cursor and what was found.
const inverse = "\x1b[7m"

// used is how many lines of a screen hold anything, the cursor's included.
func used(lines []string, cursor int) int {
	n := len(lines)
	for n > 0 && n-1 > cursor && blankText(lines[n-1]) {
		n--
	}
	return n
}

func blankText(s string) bool { return strings.TrimSpace(ansi.Strip(s)) == "" }

func tail[E any](lines []E, h int) []E { return lines[max(0, len(lines)-h):] }

// full reports whether a full-screen program is shown.
func (p *peek) full() bool {
	switch {
	case p.past != nil:
		return p.past.full
	case p.news.screen == nil:
		return false
	}
	if s := p.news.screen; p.judged.screen != s || p.judged.version != s.Version() {
		p.shot(0)
	}
	return p.judged.full
}

// shot is the screen with n lines of its history, and a judgement of it.
func (p *peek) shot(n int) screen.Shot {
	s := p.news.screen
	version := s.Version() // before the look: what is written meanwhile is judged again
	shot := s.Shot(n)
	p.judged = judged{s, version, whole(&shot)}
	return shot
}

// scroll moves n rows down, negative up, in a pane of w columns and h rows. Going up freezes lines; reaching the end
// follows again. A full-screen program lives on, and another part of it is seen.
func (p *peek) scroll(n, w, h int) {
	if p.full() {
		s := p.all()
		rows := len(p.fitted(s, w, h).lines)
		p.y = max(0, min(p.firstRow(p.fitted(s, w, h), h)+n, rows-h))
		p.pinned = true
		return
	}
	if p.past == nil {
		if n >= 0 {
			return
		}
		s := p.all()
		end := p.lastTop(s.lines, w, h)
		if end == (spot{}) {
			return // all of it is seen
		}
		p.hold(s)
		p.top = end
	}
	lines := p.past.lines
	p.top = p.moved(lines, p.top, n, w)
	if end := p.lastTop(lines, w, h); !p.top.before(end) {
		p.top = end
		if n > 0 {
			p.follow()
		}
	}
}

func (a spot) before(b spot) bool { return a.line < b.line || a.line == b.line && a.row < b.row }

// moved is n rows from a spot, as far as there are lines.
func (p *peek) moved(lines []paneLine, at spot, n, w int) spot {
	for ; n < 0 && at != (spot{}); n++ {
		if at.row--; at.row < 0 {
			at.line--
			at.row = p.height(lines[at.line], w) - 1
		}
	}
	for ; n > 0 && at.line < len(lines); n-- {
		if at.row++; at.row >= p.height(lines[at.line], w) {
			at = spot{line: at.line + 1}
		}
	}
	return at
}

// lastTop is where the last h rows begin.
func (p *peek) lastTop(lines []paneLine, w, h int) spot {
	return p.moved(lines, spot{line: len(lines)}, -h, w)
}

// wraps reports whether lines are broken into rows.
func (p *peek) wraps() bool { return p.wrap || p.fit }

// height is how many rows a line takes.
func (p *peek) height(l paneLine, w int) int {
	if l.rule != "" || !p.wraps() || widget.Width(l.text) <= w {
		return 1
	}
	return len(widget.HardWrap(l.text, w))
}

// window returns what is to be seen in h rows of w columns, at most so many; the texts may be wider.
func (p *peek) window(w, h int) []paneLine {
	var s picture
	if p.past != nil {
		s = *p.past
	} else {
		s = p.recent(h, true)
	}
	if s.full {
		s.lines = p.painted(s.lines, 0)
		s = p.fitted(s, w, h)
		rows := s.lines[p.firstRow(s, h):]
		return p.panned(rows[:min(h, len(rows))])
	}
	at := spot{}
	if p.past != nil {
		at = p.top
		// the pane has grown, or lines are wrapped otherwise
		if end := p.lastTop(s.lines, w, h); end.before(at) {
			at = end
		}
	}
	var rows []paneLine
	for i, l := range p.painted(s.lines[at.line:min(len(s.lines), at.line+h+1)], at.line) {
		if l.rule != "" || !p.wraps() {
			rows = append(rows, l)
			continue
		}
		parts := widget.HardWrap(l.text, w)
		if i == 0 {
			parts = parts[min(at.row, len(parts)-1):]
		}
		for _, text := range parts {
			rows = append(rows, paneLine{text: text})
		}
	}
	if p.past == nil {
		rows = tail(rows, h)
	}
	return p.panned(rows[:min(h, len(rows))])
}

// panned leaves columns out on the left, unless lines are wrapped: nothing of them is outside then.
func (p *peek) panned(rows []paneLine) []paneLine {
	if p.x == 0 || p.wraps() && !p.full() {
		return rows
	}
	out := slices.Clone(rows)
	for i := range out {
		out[i].text = widget.SkipColumns(out[i].text, p.x)
	}
	return out
}

// firstRow is the row of a full-screen program that is seen first in h: the one chosen, else the top, as long as the
// cursor is seen then.
func (p *peek) firstRow(s picture, h int) int {
	most := max(0, len(s.lines)-h)
	if p.pinned {
		return min(p.y, most)
	}
	return max(0, min(s.cursor-h+1, most))
}

// sideways moves n columns to the right, negative left.
func (p *peek) sideways(n, w int) {
	widest := 0
	s := p.all()
	if p.past == nil && !s.full {
		s.lines = tail(s.lines, usualRows)
	}
	for _, l := range s.lines {
		widest = max(widest, widget.Width(l.text))
	}
	p.x = max(0, min(p.x+n, widest-w))
}
