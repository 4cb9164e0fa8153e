package tui

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/tui/widget"
)

// lookup is what is searched for in the pane. The zero value is nothing.
type lookup struct {
	text string
	re   *regexp.Regexp // nil = nothing is looked for
	hits []hit          // in what is frozen
	at   int            // the one that is looked at
}

// hit is a place where it was found: columns of a line.
type hit struct{ line, from, to int }

// maxHits bounds what is counted: the newest.
const maxHits = 9999

// newLookup reads what was typed: a regular expression if it is one, else the text itself. Lower case finds both.
func newLookup(text string) lookup {
	if text == "" {
		return lookup{}
	}
	flags := ""
	if text == strings.ToLower(text) {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + text)
	if err != nil {
		re = regexp.MustCompile(flags + regexp.QuoteMeta(text))
	}
	return lookup{text: text, re: re}
}

// find looks through lines.
func (s *lookup) find(lines []paneLine) {
	s.hits, s.at = nil, 0
	if s.re == nil {
		return
	}
	for i, l := range slices.Backward(lines) {
		for _, h := range slices.Backward(s.in(l.text)) {
			h.line = i
			s.hits = append(s.hits, h)
		}
		if len(s.hits) >= maxHits {
			break
		}
	}
	s.hits = s.hits[:min(len(s.hits), maxHits)]
	slices.Reverse(s.hits)
}

// in are the places in one line.
func (s *lookup) in(text string) []hit {
	bare := text
	if !widget.IsASCII(text) {
		bare = ansi.Strip(text)
	}
	var cols columnsOf
	var hits []hit
	for _, at := range s.re.FindAllStringIndex(bare, -1) {
		if cols == nil {
			cols = divided(bare)
		}
		h := hit{from: cols.before(at[0]), to: cols.behind(at[1])}
		if at[1] > at[0] && h.to > h.from && (len(hits) == 0 || hits[len(hits)-1] != h) {
			hits = append(hits, h)
		}
	}
	return hits
}

// columnsOf are the edges of a line's characters: bytes and columns, the end of the line among them.
type columnsOf []struct{ at, col int }

func divided(s string) columnsOf {
	edges := make(columnsOf, 1, len(s)+1)
	at := 0
	widget.Walk(s, func(part string, col, w int) bool {
		at += len(part)
		edges = append(edges, struct{ at, col int }{at, col + w})
		return true
	})
	return edges
}

// before is the column of the last edge not behind a byte.
func (e columnsOf) before(at int) int {
	i := sort.Search(len(e), func(i int) bool { return e[i].at > at })
	return e[i-1].col
}

// behind is the column of the first edge not before a byte.
func (e columnsOf) behind(at int) int {
	i := sort.Search(len(e), func(i int) bool { return e[i].at >= at })
	return e[min(i, len(e)-1)].col
}

// painted are lines with what was found in them; the first is line number first of what is frozen.
func (p *peek) painted(lines []paneLine, first int) []paneLine {
	s := &p.seek
	if s.re == nil {
		return lines
	}
	out := make([]paneLine, len(lines))
	for i, l := range lines {
		out[i] = l
		var all []widget.Stretch
		for _, h := range s.in(l.text) {
			on := inverse
			if p.past != nil && s.at < len(s.hits) && s.hits[s.at] ==
				(hit{first + i, h.from, h.to}) {
				on = here
			}
			all = append(all, widget.Stretch{From: h.from, To: h.to, On: on})
		}
		if len(all) > 0 {
			out[i].text = widget.Overlay(l.text, all...)
		}
	}
	return out
}

// here paints the place that is looked at, beside others that were found.
const here = "\x1b[1;4;7m"

// nearest chooses the last place not below a line, else the first.
func (s *lookup) nearest(line int) {
	s.at = 0
	for i, h := range s.hits {
		if h.line <= line {
			s.at = i
		}
	}
}

// next goes n places on, round and round.
func (s *lookup) next(n int) {
	if k := len(s.hits); k > 0 {
		s.at = ((s.at+n)%k + k) % k
	}
}

// reveal brings the place that is looked at into a pane of w columns and h rows.
func (p *peek) reveal(w, h int) {
	if p.past == nil || p.seek.at >= len(p.seek.hits) {
		return
	}
	at := p.seek.hits[p.seek.at]
	if at.from < p.x || at.to > p.x+w {
		p.x = 0
		if at.to > w {
			p.x = max(0, at.from-w/3)
		}
	}
	if p.past.full {
		if first := p.firstRow(*p.past, h); at.line < first || at.line >= first+h {
			p.y, p.pinned = max(0, at.line-h/3), true
		}
		return
	}
	lines := p.past.lines
	bottom := p.moved(lines, p.top, h-1, w)
	if at.line < p.top.line || at.line > bottom.line || at.line == bottom.line &&
		p.height(lines[at.line], w) > bottom.row+1 {
		p.top = p.moved(lines, spot{line: at.line}, -h/3, w)
	}
	if end := p.lastTop(lines, w, h); end.before(p.top) {
		p.top = end
	}
}

// bottom is the last line that is seen of what is frozen.
func (p *peek) bottom(w, h int) int {
	if p.past.full {
		return len(p.past.lines)
	}
	return p.moved(p.past.lines, p.top, h-1, w).line
}
