package terminal

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/tui/widget"
)

// Lookup is what is searched for in the pane. The zero value is nothing.
type Lookup struct {
	Text string
	Re   *regexp.Regexp // nil = nothing is looked for
	Hits []Hit          // in what is frozen
	At   int            // the one that is looked at
}

// Hit is a place where it was found: columns of a line.
type Hit struct{ Line, From, To int }

// MaxHits bounds what is counted: the newest.
const MaxHits = 9999

// NewLookup reads what was typed: a regular expression if it is one, else the text itself. Lower case finds both.
func NewLookup(text string) Lookup {
	if text == "" {
		return Lookup{}
	}
	flags := ""
	if text == strings.ToLower(text) {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + text)
	if err != nil {
		re = regexp.MustCompile(flags + regexp.QuoteMeta(text))
	}
	return Lookup{Text: text, Re: re}
}

// Find looks through lines.
func (s *Lookup) Find(lines []PaneLine) {
	s.Hits, s.At = nil, 0
	if s.Re == nil {
		return
	}
	for i, l := range slices.Backward(lines) {
		for _, h := range slices.Backward(s.In(l.Text)) {
			h.Line = i
			s.Hits = append(s.Hits, h)
		}
		if len(s.Hits) >= MaxHits {
			break
		}
	}
	s.Hits = s.Hits[:min(len(s.Hits), MaxHits)]
	slices.Reverse(s.Hits)
}

// In are the places in one line.
func (s *Lookup) In(text string) []Hit {
	bare := text
	if !widget.IsASCII(text) {
		bare = ansi.Strip(text)
	}
	var cols columnsOf
	var hits []Hit
	for _, at := range s.Re.FindAllStringIndex(bare, -1) {
		if cols == nil {
			cols = divided(bare)
		}
		h := Hit{From: cols.before(at[0]), To: cols.behind(at[1])}
		if at[1] > at[0] && h.To > h.From && (len(hits) == 0 || hits[len(hits)-1] != h) {
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
func (p *Pane) painted(lines []PaneLine, first int) []PaneLine {
	s := &p.Seek
	if s.Re == nil {
		return lines
	}
	out := make([]PaneLine, len(lines))
	for i, l := range lines {
		out[i] = l
		var all []widget.Stretch
		for _, h := range s.In(l.Text) {
			on := Inverse
			if p.Past != nil && s.At < len(s.Hits) && s.Hits[s.At] ==
				(Hit{first + i, h.From, h.To}) {
				on = here
			}
			all = append(all, widget.Stretch{From: h.From, To: h.To, On: on})
		}
		if len(all) > 0 {
			out[i].Text = widget.Overlay(l.Text, all...)
		}
	}
	return out
}

// here paints the place that is looked at, beside others that were found.
const here = "\x1b[1;4;7m"

// Nearest chooses the last place not below a line, else the first.
func (s *Lookup) Nearest(line int) {
	s.At = 0
	for i, h := range s.Hits {
		if h.Line <= line {
			s.At = i
		}
	}
}

// Next goes n places on, round and round.
func (s *Lookup) Next(n int) {
	if k := len(s.Hits); k > 0 {
		s.At = ((s.At+n)%k + k) % k
	}
}

// Reveal brings the place that is looked at into a pane of w columns and h rows.
func (p *Pane) Reveal(w, h int) {
	if p.Past == nil || p.Seek.At >= len(p.Seek.Hits) {
		return
	}
	at := p.Seek.Hits[p.Seek.At]
	if at.From < p.X || at.To > p.X+w {
		p.X = 0
		if at.To > w {
			p.X = max(0, at.From-w/3)
		}
	}
	if p.Past.Full {
		if first := p.firstRow(*p.Past, h); at.Line < first || at.Line >= first+h {
			p.Y, p.Pinned = max(0, at.Line-h/3), true
		}
		return
	}
	lines := p.Past.Lines
	bottom := p.moved(lines, p.Top, h-1, w)
	if at.Line < p.Top.line || at.Line > bottom.line || at.Line == bottom.line &&
		p.height(lines[at.Line], w) > bottom.row+1 {
		p.Top = p.moved(lines, spot{line: at.Line}, -h/3, w)
	}
	if end := p.LastTop(lines, w, h); end.before(p.Top) {
		p.Top = end
	}
}

// Bottom is the last line that is seen of what is frozen.
func (p *Pane) Bottom(w, h int) int {
	if p.Past.Full {
		return len(p.Past.Lines)
	}
	return p.moved(p.Past.Lines, p.Top, h-1, w).line
}
